import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";
import { databases, dialects } from "../../money/databases.ts";
import { skipTime } from "../../support/clocks/skip-time.ts";
import { outcomeOf } from "../../support/reason-of.ts";
import { Cast } from "./cast.ts";

// What people may do in their accounts, over the real wire, and what attackers among them may not.

const newDatabase = databases();
const { VIEWER, DEVELOPER, OWNER } = MemberRole;

describe.each(dialects)("%s", (dialect) => {
  let cast: Cast;
  beforeAll(async () => {
    cast = await Cast.start(newDatabase, dialect);
  }, 60_000);
  afterAll(() => cast[Symbol.asyncDispose]());

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

  test("anybody but the last owner leaves an account, of several the one that is open", async () => {
    const other = await cast.newAccount();
    const { accountId, owner } = await cast.own();
    expect(await outcomeOf(owner.people.leaveAccount({}, owner.credential))).toBe("LAST_OWNER");
    const viewer = await cast.signIn({ [accountId]: VIEWER, [other]: DEVELOPER });
    const elsewhere = viewer.people.leaveAccount({ accountId: other }, viewer.credential);
    expect(await outcomeOf(elsewhere)).toBe("PERMISSION_DENIED");
    await viewer.people.leaveAccount({ accountId }, viewer.credential);
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

  test("a removed member's sessions, management keys and invitations end, here at once and soon on every core", async () => {
    const { accountId, owner } = await cast.own();
    const member = await cast.signIn({ [accountId]: OWNER });
    const managing = await member.accounts.createKey({ manages: true }, member.credential);
    const kept = await member.accounts.createKey({}, member.credential);
    const playing = await member.sessions.createSessionKey({}, member.credential);
    const { token } = await member.people.createInvitation({ role: OWNER }, member.credential);
    const everywhere = cast.services.flatMap((one) => [
      cast.calls(member.token, one),
      cast.calls(managing.secret, one),
    ]);
    for (const { accounts, credential } of everywhere) {
      expect(await outcomeOf(accounts.listKeys({}, credential))).toBe("done");
    }
    await owner.people.removeMember({ personId: member.personId }, owner.credential);
    for (const { accounts, credential } of everywhere.slice(0, 2)) {
      expect(await outcomeOf(accounts.listKeys({}, credential))).toBe("UNAUTHENTICATED");
    }
    const guest = await cast.signIn({});
    expect(await outcomeOf(guest.people.acceptInvitation({ token }, guest.credential))).toBe("INVITATION_NOT_FOUND");
    const { keys } = await owner.accounts.listKeys({ withoutRevoked: true }, owner.credential);
    expect(keys.map(({ id }) => id)).toEqual([kept.key?.id]);
    expect(keys.map(({ id }) => id)).not.toContain(playing.keyId);
    skipTime(10_000);
    for (const { accounts, credential } of everywhere) {
      expect(await outcomeOf(accounts.listKeys({}, credential))).toBe("UNAUTHENTICATED");
    }
  });
});
