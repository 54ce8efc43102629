import { afterEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { newLinkToken, newSessionToken } from "#src/identity/sessions/session-token.ts";
import { Sessions } from "#src/identity/sessions/sessions.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../../money/databases.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { reasonOf } from "../../support/reason-of.ts";

const newDatabase = databases();
const open: Storage[] = [];
afterEach(async () => {
  for (const storage of open.splice(0)) {
    await storage.close();
  }
});

const minute = 60_000;
const root = { role: "owner", operatorId: null } as const;
const customer = { role: null, operatorId: null, accountId: systemRandom.uuid(), keyId: null, personId: null } as const;

describe.each(dialects)("%s", (dialect) => {
  async function start(operatorToken = "secret") {
    const storage = await openStorage(await newDatabase(dialect));
    open.push(storage);
    const clock = new ManualClock();
    const parts = { storage, clock, random: systemRandom };
    return { ...parts, sessions: new Sessions({ ...parts, operatorToken }), parts };
  }

  test("no token is stored, of a session or of a link", async () => {
    const { storage, sessions } = await start();
    const link = await sessions.createLink(root);
    const { token, cookie } = await sessions.create(customer);
    const connection = storage.orm.em.getConnection();
    const rows = [
      await connection.execute("select * from sign_in_link"),
      await connection.execute("select * from console_session"),
    ];
    expect(rows.map((found: unknown[]) => found.length)).toEqual([1, 1]);
    expect(JSON.stringify(rows)).not.toContain(link.token.slice(5));
    expect(JSON.stringify(rows)).not.toContain(token.slice(5));
    expect(JSON.stringify(rows)).not.toContain(cookie.slice(5));
  });

  test("a session is found by its token and by its cookie, neither of which is the other's text", async () => {
    const { sessions } = await start();
    const { token, cookie, session } = await sessions.create(customer);
    expect([(await sessions.find(token))?.id, (await sessions.find(cookie))?.id]).toEqual([session.id, session.id]);
    expect(await sessions.find(cookie.replace("tgco_", "tgse_"))).toBeUndefined();
    expect(await sessions.find(token.replace("tgse_", "tgco_"))).toBeUndefined();
    await sessions.end({ id: session.id });
    expect([await sessions.find(token), await sessions.find(cookie)]).toEqual([undefined, undefined]);
  });

  test("keys that are made at once, also while their session ends, all end with it", async () => {
    const { sessions } = await start();
    for (let round = 0; round < 10; round++) {
      const { session } = await sessions.create(customer);
      const made = Array.from({ length: 4 }, () => systemRandom.uuid());
      await Promise.all(made.map((key) => sessions.addKey(session.id, key)));
      const late = systemRandom.uuid();
      const [added, [ended]] = await Promise.all([
        sessions.addKey(session.id, late).then(
          () => [late],
          () => [],
        ),
        sessions.end({ id: session.id }),
      ]);
      expect(ended?.keyIds.toSorted()).toEqual([...made, ...added].toSorted());
    }
  });

  test("a link is good once, for ten minutes", async () => {
    const { sessions, clock } = await start();
    const [first, second] = [await sessions.createLink(root), await sessions.createLink(root)];
    clock.advance(10 * minute - 1);
    const { token, session } = await sessions.redeem(first.token);
    expect((await sessions.find(token))?.id).toBe(session.id);
    expect(await reasonOf(sessions.redeem(first.token))).toBe(Reason.UNAUTHENTICATED);
    clock.advance(1);
    expect(await reasonOf(sessions.redeem(second.token))).toBe(Reason.UNAUTHENTICATED);
    expect(await reasonOf(sessions.redeem(token))).toBe(Reason.UNAUTHENTICATED);
  });

  test("a session lasts twelve hours, or until it is ended", async () => {
    const { sessions, clock } = await start();
    const [first, second] = [await sessions.create(customer), await sessions.create(customer)];
    await sessions.end({ id: second.session.id });
    expect(await sessions.find(second.token)).toBeUndefined();
    clock.advance(12 * 60 * minute - 1);
    expect(await sessions.find(first.token)).toMatchObject({ accountId: customer.accountId });
    clock.advance(1);
    expect(await sessions.find(first.token)).toBeUndefined();
  });

  test("wrong tokens ask for no session and no link, and together ten times a second for new ones", async () => {
    const { storage, sessions, clock } = await start();
    await sessions.filter.load();
    let asked = 0;
    const { em } = storage.orm;
    const fork = em.fork.bind(em);
    em.fork = ((...options: []) => {
      asked += 1;
      return fork(...options);
    }) as typeof em.fork;
    const since = clock.monotonic();
    for (let round = 0; round < 10; round += 1) {
      const tries = Array.from({ length: 25 }, () => sessions.find(newSessionToken(systemRandom)));
      const links = Array.from({ length: 25 }, () => reasonOf(sessions.redeem(newLinkToken(systemRandom))));
      await clock.until(Promise.all([...tries, ...links]));
    }
    expect(asked).toBeLessThanOrEqual(2 * (1 + (clock.monotonic() - since) / 100)); // new ones, and that there are no more
  });

  test("a session and a link of another core work at their first use, and are forgotten once over", async () => {
    const { sessions, clock, parts } = await start();
    const other = new Sessions({ ...parts, operatorToken: "secret" });
    await Promise.all([sessions.filter.load(), other.filter.load()]);
    const { token, session } = await other.create(customer);
    expect((await clock.until(sessions.find(token)))?.id).toBe(session.id);
    const link = await other.createLink(root);
    expect((await clock.until(sessions.redeem(link.token))).session.role).toBe("owner");
    expect(sessions.filter.size).toBe(3);
    clock.advance(24 * 60 * minute);
    await sessions.create(customer); // which deletes what is over
    await sessions.filter.load();
    expect(sessions.filter.size).toBe(1);
  });

  test("another operator token ends every session", async () => {
    const { sessions, parts } = await start();
    const { token } = await sessions.create(customer);
    const other = new Sessions({ ...parts, operatorToken: "another" });
    expect(await other.find(token)).toBeUndefined();
  });

  test("the oldest of too many sessions of an account ends, and nobody else's", async () => {
    const { sessions } = await start();
    const other = await sessions.create({ ...customer, accountId: systemRandom.uuid() });
    const oldest = await sessions.create(customer);
    const next = await sessions.create(customer);
    for (let i = 0; i < 99; i++) {
      await sessions.create(customer);
    }
    expect(await sessions.find(oldest.token)).toBeUndefined();
    expect(await sessions.find(next.token)).toBeDefined();
    expect(await sessions.find(other.token)).toBeDefined();
  });

  test("a session makes ten keys at most", async () => {
    const { sessions } = await start();
    const { session } = await sessions.create(customer);
    for (let i = 0; i < 10; i++) {
      await sessions.addKey(session.id, systemRandom.uuid());
    }
    expect(await reasonOf(sessions.addKey(session.id, systemRandom.uuid()))).toBe(Reason.INVALID_ARGUMENT);
    expect((await sessions.get(session.id)).keyIds).toHaveLength(10);
  });
});
