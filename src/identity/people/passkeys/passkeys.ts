import { LockMode, type SqlEntityManager, UniqueConstraintViolationException } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Random } from "#lib/ids/random.ts";
import { invalid } from "#lib/ids/validate-id.ts";
import type { Clock } from "#lib/time/clock.ts";
import { Identity, Person } from "#src/storage/entities/people/person.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";

/** Who vouches for passkeys: their signatures do. */
export const passkeyIssuer = "passkey";
const most = 20;

/** A stored passkey. */
export interface Passkey {
  readonly id: string;
  readonly personId: string;
  /** The credential's id. */
  readonly subject: string;
  readonly name: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly createdAt: Date;
  readonly usedAt: Date | null;
}

/** A passkey as a browser made it. */
export type NewPasskey = Pick<Passkey, "subject" | "name" | "publicKey" | "counter">;

interface Dependencies {
  readonly storage: Storage;
  readonly clock: Pick<Clock, "now">;
  readonly random: Pick<Random, "uuid">;
}

/** The stored passkeys. Each is an identity of its person. */
export class Passkeys {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Whether anybody has one. */
  async hasAny(): Promise<boolean> {
    return (await this.#em().findOne(Identity, { issuer: passkeyIssuer }, { fields: ["id"] })) !== null;
  }

  /** A person's, oldest first. */
  async list(personId: string): Promise<Passkey[]> {
    const where = { issuer: passkeyIssuer, personId };
    return (await this.#em().find(Identity, where, { orderBy: { id: "asc" }, limit: most })).map(toPasskey);
  }

  /** The passkey of a credential. Undefined: it is not known here. */
  async find(subject: string): Promise<Passkey | undefined> {
    const found = await this.#em().findOne(Identity, { issuer: passkeyIssuer, subject });
    return found === null ? undefined : toPasskey(found);
  }

  /** Throws PASSKEY_NOT_FOUND. */
  async get(personId: string, id: string): Promise<Passkey> {
    const found = await this.#em().findOne(Identity, { id, personId, issuer: passkeyIssuer });
    return found === null ? unknownPasskey() : toPasskey(found);
  }

  /** Throws INVALID_ARGUMENT for a person who has too many. */
  async requireRoom(personId: string): Promise<readonly Passkey[]> {
    const own = await this.list(personId);
    requireFew(own.length);
    return own;
  }

  /** Gives a person one more. Throws INVALID_ARGUMENT for a person who has too many, UNAUTHENTICATED for a known one. */
  async add(personId: string, made: NewPasskey): Promise<Passkey> {
    const { storage, clock, random } = this.#parts;
    const facts = { id: random.uuid(), personId, ...made, createdAt: new Date(clock.now()), usedAt: null };
    try {
      await inTransaction(storage, async (em) => {
        await em.findOneOrFail(Person, personId, { lockMode: LockMode.PESSIMISTIC_WRITE });
        requireFew(await em.count(Identity, { issuer: passkeyIssuer, personId }));
        await em.insert(Identity, { ...facts, issuer: passkeyIssuer });
      });
    } catch (error) {
      if (error instanceof UniqueConstraintViolationException) {
        throw failure(Reason.UNAUTHENTICATED, "The passkey is known here already.");
      }
      throw error;
    }
    return facts;
  }

  /** Throws PASSKEY_NOT_FOUND, and LAST_IDENTITY for the only way in that a person has. */
  async remove(personId: string, id: string): Promise<void> {
    await inTransaction(this.#parts.storage, async (em) => {
      // Of the last two, which are removed at once, one stays.
      await em.findOneOrFail(Person, personId, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if ((await em.count(Identity, { id, personId, issuer: passkeyIssuer })) === 0) {
        return unknownPasskey();
      }
      if ((await em.count(Identity, { personId })) === 1) {
        throw failure(Reason.LAST_IDENTITY, "You could not sign in any more: make another passkey first.");
      }
      await em.nativeDelete(Identity, { id });
    });
  }

  /** Notes a use. False: somebody else told of it meanwhile, or the passkey was removed. */
  async use({ id, counter }: Passkey, next: number): Promise<boolean> {
    const { storage, clock } = this.#parts;
    const facts = { counter: next, usedAt: new Date(clock.now()) };
    return (await inTransaction(storage, (em) => em.nativeUpdate(Identity, { id, counter }, facts))) > 0;
  }

  #em(): SqlEntityManager {
    return this.#parts.storage.orm.em.fork();
  }
}

function toPasskey({ id, personId, subject, name, publicKey, counter, createdAt, usedAt }: Identity): Passkey {
  return {
    ...{ id, personId, subject, createdAt },
    name: name ?? "",
    publicKey: Buffer.from(publicKey ?? []),
    counter: counter ?? 0,
    usedAt: usedAt ?? null,
  };
}

/** Throws INVALID_ARGUMENT. */
function requireFew(count: number): void {
  if (count >= most) {
    throw invalid("name", `You have ${most} passkeys: remove one first.`);
  }
}

export function unknownPasskey(): never {
  throw failure(Reason.PASSKEY_NOT_FOUND, "You have no such passkey.", { parameter: "passkey_id" });
}
