import { afterEach, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import { ExpiringKeys } from "#src/identity/accounts/keys/expiring-keys.ts";
import { toWarnAt } from "#src/identity/accounts/keys/key-rules.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Event } from "#src/storage/entities/event.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { createAnnounce } from "#src/storage/outbox/announcer.ts";
import type { Storage } from "#src/storage/storage.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import { databases, dialects } from "../../../money/databases.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../../support/loggers.ts";

const newDatabase = databases();
const opened: Storage[] = [];
afterEach(async () => {
  for (const storage of opened.splice(0)) {
    await storage.close();
  }
});

const hour = 3_600_000;
const day = 24 * hour;

describe.each(dialects)("%s", (dialect) => {
  async function start() {
    const storage = await openStorage(await newDatabase(dialect));
    opened.push(storage);
    const clock = new ManualClock();
    const announce = createAnnounce({ clock, random: systemRandom });
    const pepper = { version: 1, secret: "pepper" };
    const accountId = v7();
    const createdAt = new Date(clock.now());
    const facts = { id: accountId, name: "", nameKey: Buffer.of(), maxKeys: 500, createdAt, paidTotal: 0n, debt: 0n };
    await storage.orm.em.fork().insert(Account, facts);
    return {
      clock,
      accountId,
      keys: new ApiKeys({ storage, clock, random: systemRandom, prefix: "tg-", pepper }),
      later: (ms: number) => new Date(clock.now() + ms),
      /** A core. Without a lease of its own it looks whatever the others do. */
      core: (lease: Pick<WorkLease, "hold" | "release"> = { hold: async () => true, release: async () => {} }) =>
        new ExpiringKeys({ storage, announce, lease, clock, logger: silentLogger }),
      newLease: () => new WorkLease({ storage, clock, random: systemRandom, name: "expiring keys" }),
      told: async () => {
        const events = await storage.orm.em
          .fork()
          .find(Event, { type: "key.expires_soon" }, { orderBy: { id: "asc" } });
        return events.map(({ body }) => (JSON.parse(body) as { data: Record<string, unknown> }).data);
      },
    };
  }

  test("a key is told of seven days ahead, a short one a tenth of its time ahead, once", async () => {
    const { accountId, keys, clock, later, core, told } = await start();
    const end = later(100 * day);
    const { key } = await keys.create(accountId, "ci", { expiresAt: end });
    await keys.create(accountId, "short", { expiresAt: later(10 * hour) });
    await keys.create(accountId, "endless");
    const look = () => core().look();
    await look();
    clock.advance(9 * hour - 1);
    await look();
    expect(await told()).toEqual([]);
    clock.advance(1);
    await look();
    expect((await told()).map(({ name }) => name)).toEqual(["short"]);
    clock.advance(93 * day - 9 * hour);
    await look();
    await look();
    const { prefix, last4 } = key;
    const data = { account_id: accountId, key_id: key.id, name: "ci", prefix, last4, expires_at: end.toISOString() };
    expect((await told()).slice(1)).toEqual([data]);
  });

  test("cores that look at once tell it once, also where no lease keeps them apart", async () => {
    const { accountId, keys, clock, later, core, newLease, told } = await start();
    const most = 120; // more than a page
    for (let made = 0; made < most; made += 1) {
      await keys.create(accountId, "", { expiresAt: later(day) });
    }
    clock.advance(23 * hour);
    await Promise.all([core().look(), core().look(), core().look()]);
    const ids = (await told()).map(({ key_id }) => key_id);
    expect([ids.length, new Set(ids).size]).toEqual([most, most]);
    await keys.create(accountId, "", { expiresAt: later(100_000) });
    clock.advance(90_000);
    const [one, other] = [newLease(), newLease()];
    expect(await one.hold()).toBe(true);
    await core(other).look();
    expect(await told()).toHaveLength(most);
    await core(one).look();
    expect(await told()).toHaveLength(most + 1);
  });

  test("what was revoked, rotated, has expired or ends with a session is not told; another end is", async () => {
    const { accountId, keys, clock, later, core, told } = await start();
    const make = async (name: string, more = {}) =>
      (await keys.create(accountId, name, { expiresAt: later(day) }, more)).key.id;
    await keys.revoke(await make("revoked"));
    const rotated = await keys.rotate(await make("rotated"), hour);
    await keys.update(rotated.key.id, { expiresAt: null });
    await make("session", { endsUntold: true });
    const kept = await make("kept");
    await keys.create(accountId, "over", { expiresAt: later(hour) });
    clock.advance(23 * hour);
    await core().look();
    expect((await told()).map(({ name }) => name)).toEqual(["kept"]);
    const expiresAt = later(2 * day);
    await keys.update(kept, { expiresAt });
    await keys.update(kept, { expiresAt });
    await core().look();
    expect(await told()).toHaveLength(1);
    clock.advance(2 * day - hour);
    await core().look();
    await keys.update(kept, { expiresAt }); // the same end again
    await core().look();
    expect((await told()).slice(1)).toMatchObject([{ key_id: kept, expires_at: expiresAt.toISOString() }]);
  });
});

test("a key without an end is never told", () => {
  expect(toWarnAt(null, new Date())).toBeNull();
  expect(toWarnAt(undefined, new Date())).toBeNull();
});
