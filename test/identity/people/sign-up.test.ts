import { afterEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { AuditTrail } from "#src/identity/audit/audit-trail.ts";
import type { Arrival, IdentityKind } from "#src/identity/people/arrival.ts";
import { FreeGrants } from "#src/identity/people/free-grants.ts";
import { SignUp, type SignUpPolicy } from "#src/identity/people/sign-up.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import { AuditEvent } from "#src/storage/entities/operators/audit-event.ts";
import { Member } from "#src/storage/entities/people/member.ts";
import { Identity, Person } from "#src/storage/entities/people/person.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { databases, dialects } from "../../money/databases.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const newDatabase = databases();
const opened: Storage[] = [];
afterEach(async () => {
  for (const storage of opened.splice(0)) {
    await storage.close();
  }
});

const day = 86_400_000;
let made = 0;

/** Somebody of whom nobody has heard before. */
function stranger(facts: Partial<Arrival> = {}): Arrival {
  made += 1;
  return {
    ...{ kind: "oidc", issuer: "https://id.example", subject: `s${made}`, name: `Person ${made}` },
    ...{ email: `p${made}@example.com`, emailVerified: true, claimed: undefined, madeBy: `oidc-${made}` },
    ...{ address: `10.0.${made}.1`, method: "S/M" },
    ...facts,
  };
}

describe.each(dialects)("%s", (dialect) => {
  async function start(policy: SignUpPolicy, kinds: readonly IdentityKind[] = ["oidc", "email"], aDay = 20) {
    const storage = await openStorage(await newDatabase(dialect));
    opened.push(storage);
    const clock = new ManualClock();
    const parts = { storage, clock, random: systemRandom };
    const free = new Map<string, boolean>();
    const newAccount = (id: string, name = "", requestId: string | null = null) => ({
      ...{ id, name, nameKey: toNameKey(name), maxKeys: 20, createdAt: new Date(clock.now()), requestId },
      ...{ paidTotal: 0n, debt: 0n, frozenAt: null, frozenReason: null, maxInFlight: null, serviceClass: null },
      ...{ lowBalance: null, lastPaid: null },
    });
    const signUp = new SignUp({
      ...parts,
      policy,
      grants: new FreeGrants({ ...parts, kinds, aDay }),
      trail: new AuditTrail(parts),
      open: (account, isFree, alongside) =>
        inTransaction(storage, async (em) => {
          await em.insert(Account, newAccount(account.id, account.name) as never);
          await alongside(em);
        }).then(() => void free.set(account.id, isFree)),
    });
    const em = () => storage.orm.em.fork();
    const enter = (arrival: Arrival) => signUp.enter(arrival);
    const reasonOf = (arrival: Arrival) =>
      enter(arrival).then(
        () => undefined,
        (error: unknown) => readDetail(error)?.reason,
      );
    return { clock, em, free, enter, reasonOf, newAccount };
  }

  test("closed turns away who has no account, and remembers nothing", async () => {
    const { em, reasonOf } = await start("closed");
    expect(await reasonOf(stranger())).toBe(Reason.PERMISSION_DENIED);
    expect(await em().count(Person, {})).toBe(0);
  });

  test("an account that an earlier version made, or the provider names, stays found and is its person's", async () => {
    const { em, enter, newAccount, reasonOf } = await start("closed");
    const [old, named] = [systemRandom.uuid(), systemRandom.uuid()];
    await em().insert(Account, newAccount(old, "old", "oidc-old") as never);
    await em().insert(Account, newAccount(named) as never);
    const first = stranger({ madeBy: "oidc-old" });
    const entrance = await enter(first);
    expect(entrance.accountId).toBe(old);
    expect(await enter(first)).toEqual(entrance);
    expect((await enter(stranger({ claimed: named }))).accountId).toBe(named);
    expect((await enter(stranger({ claimed: named }))).accountId).toBe(named);
    expect(await reasonOf(stranger({ claimed: systemRandom.uuid() }))).toBe(Reason.PERMISSION_DENIED);
    const roles = await em().find(Member, { accountId: named }, { orderBy: { id: "asc" } });
    expect(roles.map(({ role }) => role)).toEqual(["owner", "viewer"]);
  });

  test("who was removed from an account does not come back by the provider's word", async () => {
    const { em, enter, newAccount, reasonOf } = await start("closed");
    const named = systemRandom.uuid();
    await em().insert(Account, newAccount(named) as never);
    const person = stranger({ claimed: named });
    const { personId } = await enter(person);
    await em().nativeDelete(Member, { personId });
    expect(await reasonOf(person)).toBe(Reason.PERMISSION_DENIED);
    expect(await em().count(Member, {})).toBe(0);
  });

  test("invited lets a person in without an account, once for each identity, also twice at once", async () => {
    const { em, enter } = await start("invited");
    const person = stranger();
    const [one, other] = await Promise.all([enter(person), enter(person)]);
    expect(one).toEqual({ personId: expect.any(String), accountId: null });
    expect(other).toEqual(one);
    expect(await em().count(Person, {})).toBe(1);
  });

  test.each(["invited", "open"] as const)(
    "%s knows whoever signs in twice at once, also while many do and commit together",
    async (policy) => {
      const { em, enter } = await start(policy, [], 0);
      const people = Array.from({ length: 24 }, () => stranger());
      const entrances = await Promise.all([...people, ...people].map(enter));
      expect(entrances.slice(people.length)).toEqual(entrances.slice(0, people.length));
      expect(await em().count(Person, {})).toBe(people.length);
    },
  );

  test("open makes one account with free money, whose owner the person is, and notes it", async () => {
    const { em, enter, free } = await start("open");
    const person = stranger();
    const [one, other] = await Promise.all([enter(person), enter(person)]);
    expect(other).toEqual(one);
    expect(await enter(person)).toEqual(one);
    expect([...free.values()]).toEqual([true]);
    expect(await em().findOneOrFail(Member, one as never)).toMatchObject({ role: "owner" });
    const [event, ...more] = await em().find(AuditEvent, {});
    expect(more).toEqual([]);
    expect(event).toMatchObject({ operator: person.name, personId: one.personId, accountId: one.accountId });
  });

  test("who was removed and signs in several times at once gets one account", async () => {
    const { em, enter } = await start("open");
    const person = stranger();
    const { personId } = await enter(person);
    await em().nativeDelete(Member, { personId });
    const entrances = await Promise.all(Array.from({ length: 4 }, () => enter(person)));
    const [place, ...others] = await em().find(Member, { personId });
    expect(others).toEqual([]);
    expect(entrances).toEqual(entrances.map(() => ({ personId, accountId: place?.accountId })));
    expect(await em().count(Account, {})).toBe(2);
  });

  test("a second provider's person with the same address, verified or not, is somebody else", async () => {
    const { em, enter } = await start("open");
    const victim = await enter(stranger({ email: "ada@example.com" }));
    for (const emailVerified of [false, true]) {
      const thief = await enter(stranger({ issuer: "https://other.example", email: "ADA@example.com", emailVerified }));
      expect(thief.personId).not.toBe(victim.personId);
      expect(thief.accountId).not.toBe(victim.accountId);
    }
    const same = await enter(stranger({ issuer: "https://other.example", subject: "s1", email: null }));
    expect(same.personId).not.toBe(victim.personId);
    expect(await em().count(Identity, { personId: victim.personId })).toBe(1);
  });

  test("free money goes to named kinds, and once to an address; what is refused is in the log with its reason", async () => {
    const { em, enter, free } = await start("open", ["oidc"]);
    const isFree = async (arrival: Arrival) => free.get((await enter(arrival)).accountId ?? "");
    expect(await isFree(stranger({ kind: "passkey", email: null }))).toBe(false);
    expect(await isFree(stranger({ email: "Bob@example.com" }))).toBe(true);
    expect(await isFree(stranger({ email: "bob@EXAMPLE.com" }))).toBe(false);
    expect(await isFree(stranger({ email: null }))).toBe(true);
    const events = await em().find(AuditEvent, {}, { orderBy: { id: "asc" } });
    expect(events.map(({ after }) => JSON.parse(after).free_grant_refused)).toEqual(["identity", "", "email", ""]);
  });

  test.each([
    ["an IPv4 address", ["192.0.2.7"]],
    ["a customer's networks of IPv6", ["2001:db8:0:4200::1", "2001:db8:0:42ff::1"]],
  ])("%s gets so many grants a day, also of people who come at once", async (_, addresses) => {
    const { clock, enter, free } = await start("open", ["oidc"], 2);
    const [address = ""] = addresses;
    const entrances = await Promise.all(
      Array.from({ length: 4 }, (_, at) => enter(stranger({ address: addresses[at % addresses.length] ?? "" }))),
    );
    expect(entrances.filter(({ accountId }) => free.get(accountId ?? "")).length).toBe(2);
    const elsewhere = await enter(stranger());
    expect(free.get(elsewhere.accountId ?? "")).toBe(true);
    clock.advance(day);
    const tomorrow = await enter(stranger({ address }));
    expect(free.get(tomorrow.accountId ?? "")).toBe(true);
  });
});
