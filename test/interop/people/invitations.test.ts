import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";
import { databases, dialects } from "../../money/databases.ts";
import { outcomeOf } from "../../support/reason-of.ts";
import { Cast } from "./cast.ts";

// Who gets into an account by an invitation, over the real wire, and what attackers learn of it.

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
    cast = await Cast.start(newDatabase, dialect);
  }, 60_000);
  afterAll(() => cast[Symbol.asyncDispose]());

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
});
