import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";
import { databases, dialects } from "../money/databases.ts";
import { eventually } from "../support/eventually.ts";
import { outcomeOf } from "../support/reason-of.ts";
import { Cast } from "./people/cast.ts";

// What people may do in their accounts, over the real wire, and what attackers among them may not.

const newDatabase = databases();
const { VIEWER, DEVELOPER, OWNER } = MemberRole;

/** The reason of a refusal, and its words. */
async function answerOf(call: Promise<unknown>): Promise<readonly [string | undefined, string]> {
  const error = await call.then(
    () => undefined,
    (refusal: unknown) => refusal,
  );
  return [await outcomeOf(call), error instanceof Error ? error.message : ""];
}

describe.each(dialects)("%s", (dialect) => {
  let cast: Cast;
  beforeAll(async () => {
    cast = await Cast.start(await newDatabase(dialect), dialect === "sqlite" ? 1 : 2);
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
    expect(next.session).toMatchObject({ accountId: other, memberRole: VIEWER });
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

  test("a member sees and changes its own account alone, and no role is raised by its holder", async () => {
    const { accountId, owner } = await cast.own();
    const other = await cast.own();
    const developer = await cast.signIn({ [accountId]: DEVELOPER });
    const { personId, credential } = developer;
    const role = OWNER;
    for (const refused of [
      developer.people.setMemberRole({ personId, role }, credential),
      developer.people.setMemberRole({ accountId, personId, role }, credential),
      developer.people.createInvitation({ role }, credential),
      developer.people.removeMember({ personId: owner.personId }, credential),
      developer.accounts.updateAccount({ name: "mine" }, credential),
      developer.audit.listAuditEvents({}, credential),
      owner.people.setMemberRole({ accountId: other.accountId, personId, role }, owner.credential),
      owner.people.removeMember({ accountId: other.accountId, personId: other.owner.personId }, owner.credential),
      owner.people.createInvitation({ accountId: other.accountId, role }, owner.credential),
      owner.audit.listAuditEvents({ accountId: other.accountId }, owner.credential),
      owner.accounts.updateAccount({ maxKeys: 100 }, owner.credential),
      owner.accounts.topUp({ accountId, amountPicoUsd: 10n ** 13n, reference: "free" }, owner.credential),
    ]) {
      expect(await outcomeOf(refused)).toBe("PERMISSION_DENIED");
    }
    const missing = owner.people.setMemberRole({ personId: other.owner.personId, role }, owner.credential);
    expect(await outcomeOf(missing)).toBe("MEMBER_NOT_FOUND");
    const renamed = await owner.accounts.updateAccount({ name: "Ours", lowBalancePicoUsd: 5n }, owner.credential);
    expect(renamed.account).toMatchObject({ id: accountId, name: "Ours", lowBalancePicoUsd: 5n });
    expect((await developer.accounts.getAccount({}, credential)).account?.name).toBe("Ours");
  });

  test("the last owner neither leaves nor is lowered, and of two who remove each other at once one stays", async () => {
    const { accountId, owner } = await cast.own();
    const { personId, credential } = owner;
    expect(await outcomeOf(owner.people.removeMember({ personId }, credential))).toBe("LAST_OWNER");
    const lowered = owner.people.setMemberRole({ personId, role: VIEWER }, credential);
    expect(await outcomeOf(lowered)).toBe("LAST_OWNER");
    expect(await outcomeOf(cast.operator.people.removeMember({ accountId, personId }))).toBe("LAST_OWNER");

    const second = await cast.signIn({ [accountId]: OWNER });
    const third = cast.calls(second.token, cast.services.at(-1));
    const outcomes = await Promise.all([
      outcomeOf(owner.people.removeMember({ personId: second.personId }, credential)),
      outcomeOf(third.people.removeMember({ personId }, third.credential)),
    ]);
    // The second one may find itself removed before its call is judged.
    expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(1);
    const { members } = await cast.operator.people.listMembers({ accountId });
    expect(members.map(({ role }) => role)).toEqual([OWNER]);
  });

  test("an invitation is used once, also by two at once, and by the address that it names alone", async () => {
    const { accountId, owner } = await cast.own();
    const invite = (email?: string) =>
      owner.people.createInvitation({ role: DEVELOPER, ...(email && { email }) }, owner.credential);
    const { token } = await invite();
    const guests = [await cast.signIn({}), await cast.signIn({})];
    const outcomes = await Promise.all(
      guests.map((one) => outcomeOf(one.people.acceptInvitation({ token }, one.credential))),
    );
    expect(outcomes.toSorted()).toEqual(["INVITATION_NOT_FOUND", "done"]);
    expect((await cast.operator.people.listMembers({ accountId })).members).toHaveLength(2);

    const named = await invite("Ada@Example.com");
    const tries = [
      ["PERMISSION_DENIED", await cast.signIn({}, "eve@example.com")],
      ["PERMISSION_DENIED", await cast.signIn({}, "ada@example.com", false)],
      ["PERMISSION_DENIED", await cast.signIn({})],
      ["done", await cast.signIn({}, "ada@example.com")],
      ["INVITATION_NOT_FOUND", await cast.signIn({}, "ada@example.com")],
    ] as const;
    for (const [expected, one] of tries) {
      const { token } = named;
      expect(await outcomeOf(one.people.acceptInvitation({ token }, one.credential))).toBe(expected);
    }

    const revoked = await invite();
    const invitationId = revoked.invitation?.id ?? "";
    const elsewhere = await cast.own();
    const { credential } = elsewhere.owner;
    expect(await outcomeOf(elsewhere.owner.people.revokeInvitation({ invitationId }, credential))).toBe(
      "INVITATION_NOT_FOUND",
    );
    expect((await owner.people.listInvitations({}, owner.credential)).invitations).toHaveLength(1);
    await owner.people.revokeInvitation({ invitationId }, owner.credential);
    const guest = await cast.signIn({});
    for (const wrong of [revoked.token, "tgin_", token]) {
      expect(await outcomeOf(guest.people.acceptInvitation({ token: wrong }, guest.credential))).toBe(
        "INVITATION_NOT_FOUND",
      );
    }
    const again = owner.people.acceptInvitation({ token: (await invite()).token }, owner.credential);
    expect(await outcomeOf(again)).toBe("INVALID_ARGUMENT");
  });

  test("who used an invitation uses it again after an answer that was lost, changes nothing, and does not come back by it", async () => {
    const { accountId, owner } = await cast.own();
    const guest = await cast.signIn({});
    const { token } = await owner.people.createInvitation({ role: DEVELOPER }, owner.credential);
    const accept = (by = guest) => by.people.acceptInvitation({ token }, by.credential);
    const answers = await Promise.all([accept(), accept()]);
    expect([...answers, await accept()]).toMatchObject(Array.from({ length: 3 }, () => ({ accountId })));
    await owner.people.setMemberRole({ personId: guest.personId, role: VIEWER }, owner.credential);
    expect(await accept()).toMatchObject({ accountId });
    expect(await guest.people.getInvitation({ token }, guest.credential)).toMatchObject({ role: DEVELOPER });
    const { members } = await owner.people.listMembers({}, owner.credential);
    expect(members.map(({ personId, role }) => [personId, role])).toEqual([
      [owner.personId, OWNER],
      [guest.personId, VIEWER],
    ]);
    const { auditEvents } = await owner.audit.listAuditEvents({}, owner.credential);
    expect(auditEvents.filter(({ method }) => method.endsWith("AcceptInvitation"))).toHaveLength(2); // the owner's, too
    expect(await outcomeOf(accept(await cast.signIn({})))).toBe("INVITATION_NOT_FOUND");
    await owner.people.removeMember({ personId: guest.personId }, owner.credential);
    expect(await outcomeOf(accept())).toBe("INVITATION_NOT_FOUND");
    expect(await outcomeOf(guest.people.getInvitation({ token }, guest.credential))).toBe("INVITATION_NOT_FOUND");
  });

  test("anybody but the last owner leaves an account, of several the one that is open", async () => {
    const other = await cast.newAccount();
    const { accountId, owner } = await cast.own();
    expect(await outcomeOf(owner.people.leaveAccount({}, owner.credential))).toBe("LAST_OWNER");
    const viewer = await cast.signIn({ [accountId]: VIEWER, [other]: DEVELOPER });
    await viewer.people.leaveAccount({}, viewer.credential);
    expect(await outcomeOf(viewer.people.listAccounts({}, viewer.credential))).toBe("UNAUTHENTICATED");
    const { members } = await owner.people.listMembers({}, owner.credential);
    expect(members.map(({ personId }) => personId)).toEqual([owner.personId]);
    expect((await cast.operator.people.listMembers({ accountId: other })).members).toMatchObject([
      { personId: viewer.personId, role: DEVELOPER },
    ]);
    const { auditEvents } = await owner.audit.listAuditEvents({}, owner.credential);
    expect(auditEvents[0]).toMatchObject({
      accountId,
      personId: viewer.personId,
      before: { role: "MEMBER_ROLE_VIEWER" },
    });
    const guest = await cast.signIn({});
    expect(await outcomeOf(guest.people.leaveAccount({}, guest.credential))).toBe("PERMISSION_DENIED");
  });

  test("who may use an invitation sees account, role, inviter and end before; nobody else sees more than by using it", async () => {
    const { accountId, owner } = await cast.own();
    await owner.accounts.updateAccount({ name: "Ours" }, owner.credential);
    const invite = (email = "") => owner.people.createInvitation({ role: DEVELOPER, email }, owner.credential);
    const [open, named] = [await invite(), await invite("ada@example.com")];
    const guest = await cast.signIn({});
    const { person } = await owner.people.getPerson({}, owner.credential);
    const look = (token: string, by = guest) => by.people.getInvitation({ token }, by.credential);
    expect(await look(open.token)).toMatchObject({
      accountName: "Ours",
      role: DEVELOPER,
      inviterName: person?.name,
      expiresAt: open.invitation?.expiresAt,
    });
    const ada = await cast.signIn({}, "ada@example.com");
    expect(await look(named.token, ada)).toMatchObject({ accountName: "Ours" });
    const byOperator = await cast.operator.people.createInvitation({ accountId, role: VIEWER });
    expect(await look(byOperator.token)).toMatchObject({ role: VIEWER, inviterName: "" });

    await guest.people.acceptInvitation({ token: open.token }, guest.credential);
    const unverified = await cast.signIn({}, "ada@example.com", false);
    for (const [token, by] of [
      [open.token, ada],
      ["tgin_guessed", guest],
      ["", guest],
      [named.token, guest],
      [named.token, unverified],
    ] as const) {
      const used = await answerOf(by.people.acceptInvitation({ token }, by.credential));
      expect(await answerOf(look(token, by))).toEqual(used);
      expect(used[0]).toMatch(/INVITATION_NOT_FOUND|PERMISSION_DENIED/);
    }
    const key = cast.calls((await owner.accounts.createKey({}, owner.credential)).secret);
    expect(await outcomeOf(key.people.getInvitation({ token: named.token }, key.credential))).toBe("PERMISSION_DENIED");
    const { auditEvents } = await owner.audit.listAuditEvents({}, owner.credential);
    expect(auditEvents.filter(({ method }) => method.endsWith("GetInvitation"))).toEqual([]);
  });

  test("a removed member's sessions, management keys and invitations end, here at once and soon on every core", async () => {
    const { accountId, owner } = await cast.own();
    const member = await cast.signIn({ [accountId]: OWNER });
    const managing = await member.accounts.createKey({ manages: true }, member.credential);
    const kept = await member.accounts.createKey({}, member.credential);
    const playing = await member.sessions.createSessionKey({}, member.credential);
    const { token } = await member.people.createInvitation({ role: OWNER }, member.credential);
    const everywhere = cast.services.flatMap((one) => [
      { what: "its session", ...cast.calls(member.token, one) },
      { what: "its management key", ...cast.calls(managing.secret, one) },
    ]);
    for (const { accounts, credential } of everywhere) {
      expect(await outcomeOf(accounts.listKeys({}, credential))).toBe("done");
    }
    await owner.people.removeMember({ personId: member.personId }, owner.credential);
    for (const { accounts, credential } of everywhere.slice(0, 2)) {
      expect(await outcomeOf(accounts.listKeys({}, credential))).toBe("UNAUTHENTICATED");
    }
    for (const { what, accounts, credential } of everywhere) {
      await eventually(`${what} is refused`, async () => {
        return (await outcomeOf(accounts.listKeys({}, credential))) === "UNAUTHENTICATED";
      });
    }
    const guest = await cast.signIn({});
    expect(await outcomeOf(guest.people.acceptInvitation({ token }, guest.credential))).toBe("INVITATION_NOT_FOUND");
    const { keys } = await owner.accounts.listKeys({ withoutRevoked: true }, owner.credential);
    expect(keys.map(({ id }) => id)).toEqual([kept.key?.id]);
    expect(keys.map(({ id }) => id)).not.toContain(playing.keyId);
  });

  test("who becomes a viewer makes no key, and keeps no key that does", async () => {
    const { accountId, owner } = await cast.own();
    const member = await cast.signIn({ [accountId]: DEVELOPER });
    const managing = await member.accounts.createKey({ manages: true }, member.credential);
    const { personId } = member;
    await owner.people.setMemberRole({ personId, role: VIEWER }, owner.credential);
    expect(await outcomeOf(member.accounts.createKey({}, member.credential))).toBe("PERMISSION_DENIED");
    expect(await outcomeOf(member.accounts.listKeys({}, member.credential))).toBe("done");
    const key = cast.calls(managing.secret);
    expect(await outcomeOf(key.accounts.createKey({}, key.credential))).toBe("UNAUTHENTICATED");
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

  test("every change by a member is in the log that owners read, by name", async () => {
    const { accountId, owner } = await cast.own();
    const guest = await cast.signIn({});
    const { token } = await owner.people.createInvitation({ role: DEVELOPER }, owner.credential);
    await guest.people.acceptInvitation({ token }, guest.credential);
    const { personId } = guest;
    await owner.people.setMemberRole({ personId, role: VIEWER }, owner.credential);
    const { key } = await owner.accounts.createKey({ name: "k" }, owner.credential);
    await owner.accounts.revokeKey({ keyId: key?.id ?? "" }, owner.credential);
    await owner.people.removeMember({ personId }, owner.credential);
    const { auditEvents } = await owner.audit.listAuditEvents({}, owner.credential);
    expect(auditEvents.map(({ method }) => method.split("/")[1]).reverse()).toEqual([
      "AcceptInvitation", // the owner's own
      ...["CreateInvitation", "AcceptInvitation", "SetMemberRole", "CreateKey", "RevokeKey", "RemoveMember"],
    ]);
    const { person } = await owner.people.getPerson({}, owner.credential);
    expect(auditEvents[0]).toMatchObject({ accountId, personId: owner.personId, operator: person?.name });
    expect(JSON.stringify(auditEvents.map(({ before, after }) => [before, after]))).not.toContain(token);
  });

  test("closing gives back what was paid and not spent, and ends keys, people and their sessions; the books stay", async () => {
    const { accountId, owner } = await cast.own();
    await cast.operator.accounts.topUp({ accountId, amountPicoUsd: 10n ** 13n, reference: `top-up ${accountId}` });
    const { secret } = await owner.accounts.createKey({}, owner.credential);
    const closed = await owner.accounts.closeAccount({ requestId: "once" }, owner.credential);
    expect(closed).toMatchObject({ refundedPicoUsd: 10n ** 13n, account: { frozen: true, paidTotalPicoUsd: 0n } });
    const key = cast.calls(secret);
    for (const ended of [owner.people.getPerson({}, owner.credential), key.accounts.getKeyStatus({}, key.credential)]) {
      expect(await outcomeOf(ended)).toBe("UNAUTHENTICATED");
    }
    expect((await cast.operator.people.listMembers({ accountId })).members).toEqual([]);
    const { payments } = await cast.operator.accounts.listPayments({ accountId });
    expect(payments.map(({ amountPicoUsd }) => amountPicoUsd)).toContain(-(10n ** 13n));
    expect(await cast.operator.accounts.closeAccount({ accountId, requestId: "once" })).toMatchObject({
      refundedPicoUsd: 0n,
    });
  });
});
