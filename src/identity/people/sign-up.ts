import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Member, type MemberRole } from "#src/storage/entities/people/member.ts";
import { Identity, Person } from "#src/storage/entities/people/person.ts";
import { pauseBeforeRetry, readCollided } from "#src/storage/retry.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { lockAccount } from "../accounts/keys/key-rules.ts";
import type { AuditTrail } from "../audit/audit-trail.ts";
import type { Arrival, Entrance } from "./arrival.ts";
import type { FreeGrants } from "./free-grants.ts";

/** What happens to a person without an account. */
export const signUpPolicies = ["closed", "invited", "open"] as const;
export type SignUpPolicy = (typeof signUpPolicies)[number];

/** Tries to store what another sign-in may store at the same moment. */
const mostTries = 6;

/** Dependencies. */
export interface Dependencies {
  readonly storage: Storage;
  readonly clock: Pick<Clock, "now">;
  readonly random: Pick<Random, "uuid">;
  readonly policy: SignUpPolicy;
  readonly grants: Pick<FreeGrants, "judge">;
  readonly trail: Pick<AuditTrail, "addWithin">;
  /** Makes an account, with free money or without, and more in the same transaction. */
  readonly open: (
    account: { readonly id: string; readonly name: string },
    free: boolean,
    alongside: (em: SqlEntityManager) => Promise<void>,
  ) => Promise<void>;
}

/**
 * Finds the person of an identity and the account to open, and makes both where the service lets people sign up. What a
 * person was removed from stays closed to it: an issuer's word gives a place to a new person alone.
 */
export class SignUp {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether people sign up by themselves. */
  get isOpen(): boolean {
    return this.#dependencies.policy !== "closed";
  }

  /** Whether somebody has signed in by an identity. */
  async isKnown(issuer: string, subject: string): Promise<boolean> {
    return (await this.#dependencies.storage.orm.em.fork().count(Identity, { issuer, subject })) > 0;
  }

  /** Throws PERMISSION_DENIED where nobody signs up by themselves. */
  requireOpen(): void {
    if (!this.isOpen) {
      throw noAccount();
    }
  }

  /** Throws PERMISSION_DENIED for a person without an account where sign-up is closed. */
  async enter(arrival: Arrival): Promise<Entrance> {
    const known = await this.find(arrival);
    if (known !== undefined) {
      return this.#return(known, arrival);
    }
    const accountId = await this.#findAccount(arrival);
    try {
      return await (accountId === undefined ? this.#admit(undefined, arrival) : this.#join(accountId, arrival));
    } catch (error) {
      // The person signed in twice at once: the database lets only one of them make the identity.
      return this.#return(await readCollided(error, () => this.find(arrival)), arrival);
    }
  }

  /** The person of an identity, who needs no account. */
  async identify(arrival: Arrival): Promise<string> {
    const { storage, random } = this.#dependencies;
    const known = await this.find(arrival);
    if (known !== undefined) {
      await inTransaction(storage, (em) => em.nativeUpdate(Person, { id: known }, toAddress(arrival)));
      return known;
    }
    const personId = random.uuid();
    try {
      await inTransaction(storage, (em) => this.#add(em, personId, arrival));
      return personId;
    } catch (error) {
      return readCollided(error, () => this.find(arrival));
    }
  }

  /**
   * The person of an identity. Undefined: nobody has signed in by it. Throws UNAUTHENTICATED for a new passkey that has the id of another: whoever made it
   * does not hold the other one.
   */
  async find({ issuer, subject, credential }: Arrival): Promise<string | undefined> {
    const em = this.#dependencies.storage.orm.em.fork();
    const found = await em.findOne(Identity, { issuer, subject });
    if (found !== null && credential !== undefined) {
      throw failure(Reason.UNAUTHENTICATED, "The passkey is known here already. Sign in with it.");
    }
    return found?.personId;
  }

  /** Somebody who was here before. */
  async #return(personId: string, arrival: Arrival): Promise<Entrance> {
    const { storage } = this.#dependencies;
    const em = storage.orm.em.fork();
    // A passkey tells no address: the one that another sign-in told stays.
    if (arrival.kind !== "passkey") {
      await inTransaction(storage, (em) => em.nativeUpdate(Person, { id: personId }, toAddress(arrival)));
    }
    const places = await em.find(Member, { personId }, { orderBy: { id: "asc" } });
    const place = places.find(({ accountId }) => accountId === arrival.claimed) ?? places[0];
    return place === undefined ? this.#admit(personId, arrival) : { personId, accountId: place.accountId };
  }

  /** The place that a person has. Undefined: none. */
  async #findPlace(personId: string): Promise<Member | undefined> {
    const em = this.#dependencies.storage.orm.em.fork();
    return (await em.findOne(Member, { personId }, { orderBy: { id: "asc" } })) ?? undefined;
  }

  /** Somebody without an account. `known` undefined: the person is new. */
  async #admit(known: string | undefined, arrival: Arrival): Promise<Entrance> {
    const { policy, random } = this.#dependencies;
    if (policy === "closed" || arrival.claimed !== undefined) {
      throw noAccount();
    }
    if (policy === "open") {
      return this.#open(known ?? random.uuid(), known === undefined, arrival);
    }
    return { personId: await this.identify(arrival), accountId: null };
  }

  /** Makes an account whose owner the person is. */
  async #open(personId: string, isNew: boolean, arrival: Arrival): Promise<Entrance> {
    const { open, grants, random } = this.#dependencies;
    for (let tries = 1; ; tries += 1) {
      const judgement = await grants.judge(arrival, isNew ? undefined : personId);
      const account = { id: random.uuid(), name: arrival.name };
      try {
        await open(account, judgement.refused === undefined, async (em) => {
          await (isNew ? this.#add(em, personId, arrival) : requireNoPlace(em, personId));
          await this.#place(em, account.id, personId, "owner");
          await judgement.store(em, account.id, personId);
          await this.#note(em, account.id, personId, arrival, { free_grant_refused: judgement.refused ?? "" });
        });
        return { personId, accountId: account.id };
      } catch (error) {
        const place = await this.#findPlace(personId);
        if (place !== undefined) {
          return { personId, accountId: place.accountId };
        }
        if (tries === mostTries || (isNew && (await this.find(arrival)) !== undefined)) {
          throw error;
        }
        await pauseBeforeRetry(tries);
      }
    }
  }

  /** Gives a new person a place in an account that was there before: the first one owns it. */
  async #join(accountId: string, arrival: Arrival): Promise<Entrance> {
    const { storage, random } = this.#dependencies;
    const personId = random.uuid();
    await inTransaction(storage, async (em) => {
      await lockAccount(em, accountId);
      const role = (await em.count(Member, { accountId })) === 0 ? "owner" : "viewer";
      await this.#add(em, personId, arrival);
      await this.#place(em, accountId, personId, role);
      await this.#note(em, accountId, personId, arrival, { role });
    });
    return { personId, accountId };
  }

  /** The account of a new person. Undefined: there is none. */
  async #findAccount({ claimed, madeBy }: Arrival): Promise<string | undefined> {
    const em = this.#dependencies.storage.orm.em.fork();
    if (claimed !== undefined && isUuid(claimed) && (await em.count(Account, { id: claimed })) > 0) {
      return claimed;
    }
    return madeBy === undefined ? undefined : (await em.findOne(Account, { requestId: madeBy }))?.id;
  }

  async #add(em: SqlEntityManager, personId: string, arrival: Arrival): Promise<void> {
    const { random } = this.#dependencies;
    const { issuer, subject, name, credential = noPasskey } = arrival;
    const createdAt = this.#now();
    await em.insert(Person, { id: personId, name, ...toAddress(arrival), createdAt });
    const facts = { ...credential, usedAt: null };
    await em.insert(Identity, { ...facts, id: random.uuid(), personId, issuer, subject, createdAt });
  }

  async #place(em: SqlEntityManager, accountId: string, personId: string, role: MemberRole): Promise<void> {
    const id = this.#dependencies.random.uuid();
    await em.insert(Member, { id, accountId, personId, role, createdAt: this.#now() });
  }

  async #note(
    em: SqlEntityManager,
    accountId: string,
    personId: string,
    { name, method, address }: Arrival,
    after: Readonly<Record<string, string>>,
  ): Promise<void> {
    const who = { operator: name, operatorId: null, keyId: null, personId, accountId };
    await this.#dependencies.trail.addWithin(em, {
      ...who,
      method,
      target: accountId,
      address,
      before: undefined,
      after: { person_id: personId, ...after },
    });
  }

  #now(): Date {
    return new Date(this.#dependencies.clock.now());
  }
}

/** Throws for a person who got an account meanwhile, by another sign-in: whoever is known has no identity left to collide. */
async function requireNoPlace(em: SqlEntityManager, personId: string): Promise<void> {
  await em.findOneOrFail(Person, personId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if ((await em.count(Member, { personId })) > 0) {
    throw new Error("the person has got an account meanwhile");
  }
}

const noPasskey = { name: null, publicKey: null, counter: null };

function noAccount(): Error {
  return failure(Reason.PERMISSION_DENIED, "You have no account here. Ask whoever runs this service for one.");
}

function toAddress({ email, emailVerified }: Arrival) {
  return { email: email?.toLowerCase() ?? null, emailVerified: email !== null && emailVerified };
}
