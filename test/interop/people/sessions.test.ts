import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";
import { databases, dialects } from "../../money/databases.ts";
import { outcomeOf } from "../../support/reason-of.ts";
import { Cast } from "./cast.ts";

// What a person's session is good for, over the real wire.

const newDatabase = databases();
const { VIEWER, DEVELOPER, OWNER } = MemberRole;

describe.each(dialects)("%s", (dialect) => {
  let cast: Cast;
  beforeAll(async () => {
    cast = await Cast.start(newDatabase, dialect);
  }, 60_000);
  afterAll(() => cast[Symbol.asyncDispose]());

  test("a session says the person, the account and the role, and switches to another account of the person", async () => {
    const other = await cast.newAccount();
    const { accountId, owner } = await cast.own({ [other]: VIEWER });
    const { session } = await owner.sessions.getSession({}, owner.credential);
    expect(session).toMatchObject({ personId: owner.personId, accountId, memberRole: OWNER, role: 0 });
    const { accounts } = await owner.people.listAccounts({}, owner.credential);
    expect(accounts.map((place) => [place.accountId, place.role])).toEqual([
      [accountId, OWNER],
      [other, VIEWER],
    ]);
    const next = await owner.sessions.switchAccount({ accountId: other }, owner.credential);
    expect(next.session).toMatchObject({ accountId: other, memberRole: VIEWER, expiresAt: session?.expiresAt });
    expect(await outcomeOf(owner.people.getPerson({}, owner.credential))).toBe("UNAUTHENTICATED");
    const there = cast.calls(next.token);
    expect(await outcomeOf(there.accounts.createKey({}, there.credential))).toBe("PERMISSION_DENIED");
    const nowhere = there.sessions.switchAccount({ accountId: await cast.newAccount() }, there.credential);
    expect(await outcomeOf(nowhere)).toBe("ACCOUNT_NOT_FOUND");
  });

  test("a session's token is a bearer of the surfaces, too, as far as its person's role goes and until it ends", async () => {
    const { accountId, owner } = await cast.own();
    const viewer = await cast.signIn({ [accountId]: VIEWER });
    const { url } = cast.services[0] as { readonly url: string };
    const statusOf = async ({ credential }: typeof owner, path: string, body?: object) => {
      const init = { headers: credential.headers, ...(body && { method: "POST", body: JSON.stringify(body) }) };
      return (await fetch(url + path, init)).status;
    };
    expect([await statusOf(owner, "/v1/keys", { name: "a" }), await statusOf(owner, "/v1/keys")]).toEqual([201, 200]);
    expect(await statusOf(viewer, "/v1/keys", { name: "b" })).toBe(403);
    const chat = { model: "m", messages: [{ role: "user", content: "Hello" }] };
    expect(await statusOf(owner, "/v1/chat/completions", chat)).toBe(403);
    await owner.sessions.endSession({}, owner.credential);
    expect(await statusOf(owner, "/v1/keys")).toBe(401);
  });

  test("a person without an account reads itself, uses an invitation, switches and signs out, and no more", async () => {
    const { accountId, owner } = await cast.own();
    const guest = await cast.signIn({});
    const { credential } = guest;
    for (const refused of [
      guest.accounts.getAccount({}, credential),
      guest.accounts.createKey({}, credential),
      guest.accounts.listKeys({ accountId }, credential),
      guest.people.listMembers({}, credential),
      guest.people.listMembers({ accountId }, credential),
      guest.audit.listAuditEvents({}, credential),
    ]) {
      expect(await outcomeOf(refused)).toBe("PERMISSION_DENIED");
    }
    expect((await guest.people.getPerson({}, credential)).person).toMatchObject({ id: guest.personId });
    const { token } = await owner.people.createInvitation({ role: DEVELOPER }, owner.credential);
    expect(await guest.people.acceptInvitation({ token }, credential)).toMatchObject({ accountId });
    const { session } = await guest.sessions.switchAccount({ accountId }, credential);
    expect(session).toMatchObject({ accountId, memberRole: DEVELOPER });
  });

  test("the keys of a session spend no more together than the playground may", async () => {
    const { owner } = await cast.own();
    const made = [];
    for (let key = 0; key < 2; key += 1) {
      made.push(await owner.sessions.createSessionKey({}, owner.credential));
    }
    const { keys } = await owner.accounts.listKeys({}, owner.credential);
    expect(keys.map(({ id }) => id)).toEqual(made.map(({ keyId }) => keyId));
    expect(keys.map(({ limits }) => limits?.budgetPicoUsd)).toEqual([5n * 10n ** 11n, 5n * 10n ** 11n]);
    // Keys of one chain have one budget: what one of them may spend from now on, the other one has, too.
    const [first = "", second = ""] = made.map(({ keyId }) => keyId);
    await cast.operator.accounts.updateKey({ keyId: first, limits: { budgetPicoUsd: 7n } });
    expect((await cast.operator.accounts.getKey({ keyId: second })).key?.limits?.budgetPicoUsd).toBe(7n);
    await owner.sessions.endSession({}, owner.credential);
    const left = await cast.operator.accounts.getKey({ keyId: made[0]?.keyId ?? "" });
    expect(left.key?.revokedAt).toBeDefined();
  });

  test("keys that one session makes at once share what they may spend", async () => {
    const { owner } = await cast.own();
    const make = () => owner.sessions.createSessionKey({}, owner.credential);
    const [first, second] = await Promise.all([make(), make()]);
    await cast.operator.accounts.updateKey({ keyId: first.keyId, limits: { budgetPicoUsd: 7n } });
    expect((await cast.operator.accounts.getKey({ keyId: second.keyId })).key?.limits?.budgetPicoUsd).toBe(7n);
  });
});
