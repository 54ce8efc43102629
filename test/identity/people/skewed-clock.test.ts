import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { PendingSeal } from "#lib/ids/pending.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { Invitations } from "#src/identity/people/invitations.ts";
import { type BegunMail, MailSignIn } from "#src/identity/people/mail-sign-in.ts";
import { UsedProofs } from "#src/identity/people/used-proofs.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import { Person } from "#src/storage/entities/people/person.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../../money/databases.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";
import { reasonOf } from "../../support/reason-of.ts";

// Somebody sets the service's clock, or it was wrong until then: what was begun before is finished after.

const newDatabase = databases();
const hour = 3_600_000;
const minute = 60_000;

describe.each(dialects)("%s", (dialect) => {
  let storage: Storage;
  let clock: ManualClock;
  beforeEach(async () => {
    storage = await openStorage(await newDatabase(dialect));
    clock = new ManualClock();
  });
  afterEach(() => storage.close());

  /** Sign-ins by mail. The token of each link is handed over as a mail would. */
  function mails() {
    const tokens: string[] = [];
    const signIn = new MailSignIn({
      mailLink: async (_, token) => void tokens.push(token),
      pending: new PendingSeal<BegunMail>("mail", createSeal([{ version: 1, secret: "pepper" }], systemRandom), clock),
      used: new UsedProofs(storage, clock),
      signUp: { isOpen: true, isKnown: async () => true, enter: async () => ({ personId: "p", accountId: null }) },
      random: systemRandom,
      logger: silentLogger,
    });
    return () => {
      const { pending } = signIn.begin("ada@example.com", "192.0.2.1");
      const token = tokens.at(-1) ?? "";
      return () => signIn.finish(token, pending, { address: "192.0.2.1", method: "S/M" });
    };
  }

  test("a link asked for while the clock is an hour ahead works after it goes back, no longer than that hour more", async () => {
    const begin = mails();
    clock.jump(hour);
    const [first, second] = [begin(), begin()];
    clock.jump(-hour);
    expect(await first()).toMatchObject({ personId: "p" });
    clock.advance(hour + 10 * minute);
    expect(await reasonOf(second())).toBe(Reason.UNAUTHENTICATED);
  });

  test("a link is too old once the clock goes an hour ahead, and the next one works at once", async () => {
    const begin = mails();
    const first = begin();
    clock.jump(hour);
    expect(await reasonOf(first())).toBe(Reason.UNAUTHENTICATED);
    expect(await begin()()).toMatchObject({ personId: "p" });
  });

  test("what signed somebody in does not do so again after the clock was ahead and went back", async () => {
    const begin = mails();
    const first = begin();
    await first();
    clock.jump(hour);
    await begin()(); // which forgets what has long ended
    clock.jump(-hour);
    expect(await reasonOf(first())).toBe(Reason.UNAUTHENTICATED);
  });

  test("an invitation made while the clock is an hour ahead or behind is good for a week, give or take that hour", async () => {
    const [accountId, personId] = [systemRandom.uuid(), systemRandom.uuid()];
    const em = storage.orm.em.fork();
    await em.insert(Account, {
      ...{ id: accountId, name: "", nameKey: toNameKey(""), maxKeys: 1, createdAt: new Date(), requestId: null },
      ...{ paidTotal: 0n, debt: 0n, frozenAt: null, frozenReason: null, maxInFlight: null, serviceClass: null },
      ...{ lowBalance: null, lastPaid: null, balanceTold: "ample" },
    });
    await em.insert(Person, {
      id: personId,
      name: "",
      email: null,
      emailVerified: false,
      createdAt: new Date(),
      mails: null,
    });
    const invitations = new Invitations({ storage, clock, random: systemRandom });
    for (const skew of [hour, -hour]) {
      clock.jump(skew);
      const { token } = await invitations.create({ accountId, role: "viewer", email: null, invitedBy: null });
      clock.jump(-skew);
      clock.advance(7 * 24 * hour + skew - 1);
      expect(await invitations.look(token, personId)).toMatchObject({ role: "viewer" });
      clock.advance(1);
      expect(await reasonOf(invitations.look(token, personId))).toBe(Reason.INVITATION_NOT_FOUND);
    }
  });
});
