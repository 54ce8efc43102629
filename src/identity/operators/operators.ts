import { LockMode } from "@mikro-orm/core";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { toDigest } from "#lib/ids/checked-secret.ts";
import type { Random } from "#lib/ids/random.ts";
import type { PageStart } from "#lib/rpc/pages.ts";
import type { Clock } from "#lib/time/clock.ts";
import { Operator } from "#src/storage/entities/operators/operator.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { newOperatorToken } from "./operator-token.ts";

/** The most live operators: every core keeps them in memory. */
const mostLive = 1000;

/** A new operator. The token is stored nowhere. */
export interface NewOperator {
  readonly operator: Operator;
  readonly token: string;
}

/** The stored operators with tokens of their own. Ids are UUIDs. */
export class Operators {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(parts: { storage: Storage; clock: Clock; random: Random }) {
    this.#storage = parts.storage;
    this.#clock = parts.clock;
    this.#random = parts.random;
  }

  /** All operators that are not revoked. */
  live(): Promise<Operator[]> {
    return this.#storage.orm.em.fork().find(Operator, { revokedAt: null }, { limit: mostLive });
  }

  /** Oldest first, including revoked ones: ids sort by age. */
  list({ after, limit }: PageStart): Promise<Operator[]> {
    const where = after === undefined ? {} : { id: { $gt: after } };
    return this.#storage.orm.em.fork().find(Operator, where, { orderBy: { id: "asc" }, limit });
  }

  /** Throws OPERATOR_NOT_FOUND. */
  async get(id: string): Promise<Operator> {
    const operator = await this.#storage.orm.em.fork().findOne(Operator, id);
    if (operator === null) {
      throw noOperator();
    }
    return operator;
  }

  /**
   * `by`: the operator who does it; empty: the configured one. Throws OPERATOR_NAME_TAKEN, INVALID_ARGUMENT when there are too many,
   * and PERMISSION_DENIED when who does it was revoked meanwhile.
   */
  create(name: string, role: Operator["role"], by = ""): Promise<NewOperator> {
    return inTransaction(this.#storage, async (em) => {
      const maker = by === "" ? undefined : await em.findOne(Operator, by, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (maker !== undefined && maker?.revokedAt !== null) {
        throw failure(Reason.PERMISSION_DENIED, "The operator who does it was revoked.");
      }
      // Two operators with one name must not be made at once. SQLite has a single writer anyway.
      if (this.#storage.dialect === "postgresql") {
        await em.execute("select pg_advisory_xact_lock(hashtext('tollgate operators'))");
      }
      if ((await em.count(Operator, { name, revokedAt: null })) > 0) {
        throw failure(
          Reason.OPERATOR_NAME_TAKEN,
          `There is an operator ${name}: revoke it first, or take another name.`,
          {
            parameter: "name",
          },
        );
      }
      if ((await em.count(Operator, { revokedAt: null })) >= mostLive) {
        throw failure(Reason.INVALID_ARGUMENT, `There may be ${mostLive} operators at most: revoke one first.`);
      }
      const token = newOperatorToken(this.#random);
      const operator = em.create(Operator, {
        id: this.#random.uuid(),
        name,
        role,
        digest: toDigest(token),
        createdAt: new Date(this.#clock.now()),
        revokedAt: null,
      });
      em.persist(operator);
      return { operator, token };
    });
  }

  /** Ends an operator's token. An operator who was revoked before stays as they are. Throws OPERATOR_NOT_FOUND. */
  revoke(id: string): Promise<Operator> {
    const now = new Date(this.#clock.now());
    return inTransaction(this.#storage, async (em) => {
      const operator = await em.findOne(Operator, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (operator === null) {
        throw noOperator();
      }
      operator.revokedAt ??= now;
      return operator;
    });
  }
}

function noOperator(): Error {
  return failure(Reason.OPERATOR_NOT_FOUND, "There is no such operator.", { parameter: "operator_id" });
}
