import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "#lib/ids/random.ts";
import { toCustomerNetwork } from "#lib/net/network.ts";
import type { Clock } from "#lib/time/clock.ts";
import { FreeGrant, type GrantRefusal } from "#src/storage/entities/people/free-grant.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { Arrival, IdentityKind } from "./arrival.ts";

/** Dependencies. */
export interface Dependencies {
  readonly storage: Storage;
  readonly clock: Pick<Clock, "now">;
  readonly random: Pick<Random, "uuid">;
  /** The kinds of identities that get free money. */
  readonly kinds: readonly IdentityKind[];
  /** The most grants of a network in a day. */
  readonly aDay: number;
}

/** A judgement about the free money of a new account, to be stored in the transaction that makes the account. */
export interface Judgement {
  /** Undefined: it is given. */
  readonly refused: GrantRefusal | undefined;
  /** Throws when somebody else took the same place meanwhile: judge again. */
  store(em: SqlEntityManager, accountId: string, personId: string): Promise<void>;
}

/** Who gets free money: each person, e-mail address and place of a network once, which the database's keys hold. */
export class FreeGrants {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** `personId` undefined: the person is new. */
  async judge(arrival: Arrival, personId: string | undefined): Promise<Judgement> {
    const { storage, clock, random, kinds, aDay } = this.#dependencies;
    const em = storage.orm.em.fork();
    const at = new Date(clock.now());
    const place = { network: toCustomerNetwork(arrival.address), day: at.toISOString().slice(0, 10) };
    const email = arrival.emailVerified ? (arrival.email?.toLowerCase() ?? null) : null;
    const had = async (where: object) => (await em.count(FreeGrant, where)) > 0;
    const used = await em.count(FreeGrant, { ...place, refused: null });
    const find = async (): Promise<GrantRefusal | undefined> => {
      if (!kinds.includes(arrival.kind) || (personId !== undefined && (await had({ grantedTo: personId })))) {
        return "identity";
      }
      if (email !== null && (await had({ email }))) {
        return "email";
      }
      return used >= aDay ? "network" : undefined;
    };
    const refused = await find();
    const taken = (holder: string) =>
      refused === undefined
        ? { grantedTo: holder, email, ordinal: used + 1 }
        : { grantedTo: null, email: null, ordinal: null };
    return {
      refused,
      async store(em, accountId, personId) {
        const facts = { id: random.uuid(), accountId, personId, at, ...place, ...taken(personId) };
        await em.insert(FreeGrant, { ...facts, refused: refused ?? null });
      },
    };
  }
}
