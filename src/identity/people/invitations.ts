import type { FilterQuery } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { isChecked, newCheckedSecret, toDigest } from "#lib/ids/checked-secret.ts";
import type { Random } from "#lib/ids/random.ts";
import { invalid } from "#lib/ids/validate-id.ts";
import type { Clock } from "#lib/time/clock.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Invitation } from "#src/storage/entities/people/invitation.ts";
import { Member, type MemberRole } from "#src/storage/entities/people/member.ts";
import { Person } from "#src/storage/entities/people/person.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { lockAccount } from "../accounts/keys/key-rules.ts";
import { requireMemberRole } from "../accounts/member-role.ts";

/** How long an invitation can be used, in milliseconds. */
const invitationMs = 7 * 86_400_000;
/** The most open invitations of an account. */
const mostOpen = 100;
const prefix = "tgin_";

/** Who is invited into what, and by whom. */
export interface NewInvitation {
  readonly accountId: string;
  readonly role: MemberRole;
  /** Null: whoever has the token may use it. */
  readonly email: string | null;
  /** Null: an operator. */
  readonly invitedBy: string | null;
}

/** What an invitation gives, for whoever may use it. */
export interface Offer extends Pick<Invitation, "role" | "expiresAt"> {
  readonly accountName: string;
  /** Or else the e-mail address. Empty: an operator invited, or somebody of whom neither is known. */
  readonly inviterName: string;
}

/** Dependencies. */
export interface Dependencies {
  readonly storage: Storage;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

/** The stored invitations into accounts. */
export class Invitations {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Throws ACCOUNT_NOT_FOUND, PERMISSION_DENIED when who invites is no owner any more, and INVALID_ARGUMENT when the account has
   * too many open ones.
   */
  async create(facts: NewInvitation): Promise<{ readonly invitation: Invitation; readonly token: string }> {
    const { storage, random } = this.#dependencies;
    const token = newCheckedSecret(prefix, random);
    const now = this.#now();
    const invitation = await inTransaction(storage, async (em) => {
      const { accountId, invitedBy } = facts;
      await lockAccount(em, accountId);
      await (invitedBy && requireMemberRole(em, { accountId, personId: invitedBy }, "owner"));
      if ((await em.count(Invitation, this.#open(facts.accountId))) >= mostOpen) {
        throw invalid("account_id", `The account has ${mostOpen} open invitations: revoke some first.`);
      }
      const made = em.create(Invitation, {
        id: random.uuid(),
        digest: toDigest(token),
        ...facts,
        email: facts.email?.toLowerCase() ?? null,
        createdAt: now,
        expiresAt: new Date(now.getTime() + invitationMs),
        usedAt: null,
        usedBy: null,
      });
      em.persist(made);
      return made;
    });
    return { invitation, token };
  }

  /** The open invitations of an account, oldest first. */
  async list(accountId: string): Promise<Invitation[]> {
    const em = this.#dependencies.storage.orm.em.fork();
    return em.find(Invitation, this.#open(accountId), { orderBy: { id: "asc" }, limit: mostOpen });
  }

  /** Throws INVITATION_NOT_FOUND, also for one that was used. */
  async get(id: string): Promise<Invitation> {
    const found = await this.#dependencies.storage.orm.em.fork().findOne(Invitation, { id, usedAt: null });
    return found ?? refuse();
  }

  async revoke(id: string): Promise<void> {
    const where = { id, usedAt: null };
    await inTransaction(this.#dependencies.storage, (em) => em.nativeDelete(Invitation, where));
  }

  /** What an invitation gives. Throws INVITATION_NOT_FOUND, and PERMISSION_DENIED when it names another address. */
  async look(token: string, personId: string): Promise<Offer> {
    const em = this.#dependencies.storage.orm.em.fork();
    const { accountId, role, invitedBy, expiresAt } = await findUsable(em, this.#good(token), personId);
    const [account, inviter] = await Promise.all([
      em.findOneOrFail(Account, accountId),
      invitedBy ? em.findOne(Person, invitedBy) : null,
    ]);
    return { role, expiresAt, accountName: account.name, inviterName: inviter?.name || inviter?.email || "" };
  }

  /**
   * Gives a person the place that an invitation names, once. The same person again, whose first answer may be lost, finds
   * the place as it is. Throws INVITATION_NOT_FOUND, PERMISSION_DENIED when it names another address, and
   * INVALID_ARGUMENT for somebody who had a place in the account before.
   */
  async accept(
    token: string,
    personId: string,
    alongside: (em: SqlEntityManager, member: Member) => Promise<void>,
  ): Promise<Member> {
    const { storage, random } = this.#dependencies;
    const now = this.#now();
    const good = this.#good(token);
    return inTransaction(storage, async (em) => {
      const { accountId, role } = await findUsable(em, good, personId);
      await lockAccount(em, accountId);
      const place = await em.findOne(Member, { accountId, personId });
      if (place !== null) {
        const isAgain = (await em.count(Invitation, { ...good, usedBy: personId })) > 0;
        return isAgain ? place : hasPlace();
      }
      // Of several people who use it at once, only the one whose change finds it unused is let in.
      const unused = { ...good, usedAt: null };
      if ((await em.nativeUpdate(Invitation, unused, { usedAt: now, usedBy: personId })) === 0) {
        return refuse();
      }
      const member = em.create(Member, { id: random.uuid(), accountId, personId, role, createdAt: now });
      em.persist(member);
      await em.flush();
      await alongside(em, member);
      return member;
    });
  }

  #open(accountId: string) {
    return { accountId, usedAt: null, expiresAt: { $gt: this.#now() } };
  }

  /** Selects the invitation of a token, used or not. Throws INVITATION_NOT_FOUND for what cannot be a token. */
  #good(token: string) {
    return token.startsWith(prefix) && isChecked(token)
      ? { digest: toDigest(token), expiresAt: { $gt: this.#now() } }
      : refuse();
  }

  #now(): Date {
    return new Date(this.#dependencies.clock.now());
  }
}

/**
 * An invitation that nobody has used, or that gave this very person a place. Throws INVITATION_NOT_FOUND, and
 * PERMISSION_DENIED when it names another address than the person's.
 */
async function findUsable(
  em: SqlEntityManager,
  good: FilterQuery<Invitation> & object,
  personId: string,
): Promise<Invitation> {
  const isFree = { $or: [{ usedAt: null }, { usedBy: personId }] };
  const found = (await em.findOne(Invitation, { ...good, ...isFree } as FilterQuery<Invitation>)) ?? refuse();
  const { accountId } = found;
  if (found.usedAt !== null && (await em.count(Member, { accountId, personId })) === 0) {
    refuse(); // removed since
  }
  requireAddress(found.email ?? null, await em.findOneOrFail(Person, personId));
  return found;
}

/** Throws PERMISSION_DENIED unless a person's verified address is the one that an invitation names. */
function requireAddress(named: string | null, { email, emailVerified }: Person): void {
  if (named !== null && !(emailVerified && email === named)) {
    throw failure(Reason.PERMISSION_DENIED, "The invitation is for another e-mail address, or yours is not verified.");
  }
}

function hasPlace(): never {
  throw invalid("token", "You have a place in that account already.");
}

function refuse(): never {
  const message = "The invitation was used or revoked, is older than 7 days, or is none.";
  throw failure(Reason.INVITATION_NOT_FOUND, message);
}
