import { afterEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { Invitations } from "#src/identity/people/invitations.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import { Member } from "#src/storage/entities/people/member.ts";
import { Person } from "#src/storage/entities/people/person.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../../money/databases.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { reasonOf } from "../../support/reason-of.ts";

const newDatabase = databases();
const opened: Storage[] = [];
afterEach(async () => {
  for (const storage of opened.splice(0)) {
    await storage.close();
  }
});

const week = 7 * 86_400_000;

describe.each(dialects)("%s", (dialect) => {
  async function start() {
    const storage = await openStorage(await newDatabase(dialect));
    opened.push(storage);
    const accountId = systemRandom.uuid();
    await storage.orm.em.fork().insert(Account, {
      ...{ id: accountId, name: "", nameKey: toNameKey(""), maxKeys: 1, createdAt: new Date(), requestId: null },
      ...{ paidTotal: 0n, debt: 0n, frozenAt: null, frozenReason: null, maxInFlight: null, serviceClass: null },
      ...{ lowBalance: null, lastPaid: null, balanceTold: "ample" },
    });
    const clock = new ManualClock();
    return { storage, accountId, clock, invitations: new Invitations({ storage, clock, random: systemRandom }) };
  }

  test("who is no owner any more invites nobody, however the call was admitted", async () => {
    const { storage, accountId, invitations } = await start();
    const personId = systemRandom.uuid();
    const invite = () => invitations.create({ accountId, role: "owner", email: null, invitedBy: personId });
    expect(await reasonOf(invite())).toBe(Reason.PERMISSION_DENIED);
    const em = storage.orm.em.fork();
    const createdAt = new Date();
    await em.insert(Person, { id: personId, name: "Bob", email: null, emailVerified: false, createdAt, mails: null });
    await em.insert(Member, { id: systemRandom.uuid(), accountId, personId, role: "owner", createdAt });
    expect(await reasonOf(invite())).toBeUndefined();
    await em.nativeUpdate(Member, { personId }, { role: "developer" });
    expect(await reasonOf(invite())).toBe(Reason.PERMISSION_DENIED);
  });

  test("an invitation is open for a week, an account has a hundred at most, and no token is stored", async () => {
    const { storage, accountId, clock, invitations } = await start();
    const invite = () => invitations.create({ accountId, role: "viewer", email: null, invitedBy: null });
    const { token } = await invite();
    for (let more = 1; more < 100; more += 1) {
      await invite();
    }
    expect(await reasonOf(invite())).toBe(Reason.INVALID_ARGUMENT);
    const rows = await storage.orm.em.getConnection().execute("select * from invitation");
    expect(rows).toHaveLength(100);
    expect(JSON.stringify(rows)).not.toContain(token.slice(5));
    clock.advance(week);
    expect(await invitations.list(accountId)).toEqual([]);
    const late = invitations.accept(token, systemRandom.uuid(), async () => {});
    expect(await reasonOf(late)).toBe(Reason.INVITATION_NOT_FOUND);
    await invite();
  });
});
