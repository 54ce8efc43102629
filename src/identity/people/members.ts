import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { PageStart } from "#lib/rpc/pages.ts";
import { ConsoleSession } from "#src/storage/entities/operators/console-session.ts";
import { Invitation } from "#src/storage/entities/people/invitation.ts";
import { Member, type MemberRole } from "#src/storage/entities/people/member.ts";
import { Person } from "#src/storage/entities/people/person.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { ApiKeys } from "../accounts/keys/api-keys.ts";
import { lockAccount } from "../accounts/keys/key-rules.ts";
import { requireMemberRole } from "../accounts/member-role.ts";

/** A member, with what its person is called. */
export interface NamedMember extends Member {
  readonly name: string;
  readonly email: string | null;
}

/** The stored members of accounts. Changes of one account's members wait for each other. */
export class Members {
  readonly #storage: Storage;
  readonly #keys: Pick<ApiKeys, "revokeWithin">;

  constructor(storage: Storage, keys: Pick<ApiKeys, "revokeWithin">) {
    this.#storage = storage;
    this.#keys = keys;
  }

  /** An account's members after one, in the order of joining: ids sort by age. */
  async list(accountId: string, { after, limit }: PageStart): Promise<NamedMember[]> {
    const em = this.#storage.orm.em.fork();
    const where = { accountId, ...(after !== undefined && { id: { $gt: after } }) };
    return withNames(em, await em.find(Member, where, { orderBy: { id: "asc" }, limit }));
  }

  /** Undefined: the person has no place in the account. */
  async find(accountId: string, personId: string): Promise<Member | undefined> {
    return (await this.#storage.orm.em.fork().findOne(Member, { accountId, personId })) ?? undefined;
  }

  /** Throws MEMBER_NOT_FOUND. */
  async get(accountId: string, personId: string): Promise<NamedMember> {
    const em = this.#storage.orm.em.fork();
    const [member] = await withNames(em, [await findMember(em, accountId, personId)]);
    return member as NamedMember;
  }

  /**
   * Gives a member a role. A new viewer's management keys are revoked, which act as developers, and the open invitations
   * of a former owner. `by`: the owner who does it; undefined: an operator. Throws ACCOUNT_NOT_FOUND, MEMBER_NOT_FOUND, LAST_OWNER,
   * and PERMISSION_DENIED when who does it is no owner any more.
   */
  async setRole(accountId: string, personId: string, role: MemberRole, by?: string): Promise<NamedMember> {
    await inTransaction(this.#storage, async (em) => {
      await lockAccount(em, accountId);
      await (by && requireMemberRole(em, { accountId, personId: by }, "owner"));
      const member = await findMember(em, accountId, personId);
      if (member.role === "owner" && role !== "owner") {
        await requireAnotherOwner(em, member);
        await em.nativeDelete(Invitation, { accountId, invitedBy: personId, usedAt: null });
      }
      member.role = role;
      await em.flush();
      if (role === "viewer") {
        await this.#keys.revokeWithin(em, { accountId, personId, manages: true });
      }
    });
    return this.get(accountId, personId);
  }

  /**
   * Takes a person out of an account, with the person's sessions, management keys and open invitations there. Throws
   * ACCOUNT_NOT_FOUND, MEMBER_NOT_FOUND, LAST_OWNER.
   */
  async remove(accountId: string, personId: string): Promise<void> {
    await inTransaction(this.#storage, async (em) => {
      await lockAccount(em, accountId);
      const member = await findMember(em, accountId, personId);
      if (member.role === "owner") {
        await requireAnotherOwner(em, member);
      }
      await em.nativeDelete(Member, { id: member.id });
      await this.#endSessions(em, { accountId, personId });
      await this.#keys.revokeWithin(em, { accountId, personId, manages: true });
      await em.nativeDelete(Invitation, { accountId, invitedBy: personId, usedAt: null });
    });
  }

  /** Empties an account that is closed: of its people, their sessions, its invitations and all its keys. */
  async removeAll(accountId: string): Promise<void> {
    await inTransaction(this.#storage, async (em) => {
      await lockAccount(em, accountId);
      await em.nativeDelete(Member, { accountId });
      await this.#endSessions(em, { accountId });
      await this.#keys.revokeWithin(em, { accountId });
      await em.nativeDelete(Invitation, { accountId, usedAt: null });
    });
  }

  /** Ends sessions, and the keys that end with them. */
  async #endSessions(em: SqlEntityManager, where: { accountId: string; personId?: string }): Promise<void> {
    const ended = await em.find(ConsoleSession, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const keyIds = ended.flatMap((session) => session.keyIds);
    await em.nativeDelete(ConsoleSession, where);
    await this.#keys.revokeWithin(em, { id: { $in: keyIds } });
  }
}

/** Throws MEMBER_NOT_FOUND. */
async function findMember(em: SqlEntityManager, accountId: string, personId: string): Promise<Member> {
  const member = await em.findOne(Member, { accountId, personId });
  if (member === null) {
    throw failure(Reason.MEMBER_NOT_FOUND, "The person has no place in the account.", { parameter: "person_id" });
  }
  return member;
}

/** Throws LAST_OWNER. The account is locked, so that two owners who leave at once do not both count the other. */
async function requireAnotherOwner(em: SqlEntityManager, { id, accountId }: Member): Promise<void> {
  if ((await em.count(Member, { accountId, role: "owner", id: { $ne: id } })) === 0) {
    throw failure(
      Reason.LAST_OWNER,
      "The account would have no owner: make another member an owner first, or close it.",
    );
  }
}

async function withNames(em: SqlEntityManager, members: readonly Member[]): Promise<NamedMember[]> {
  const persons = await em.find(Person, { id: { $in: members.map(({ personId }) => personId) } });
  const byId = new Map(persons.map((person) => [person.id, person]));
  return members.map((member) => {
    const { name = "", email = null } = byId.get(member.personId) ?? {};
    return { ...member, name, email };
  });
}
