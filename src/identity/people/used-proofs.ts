import { hash } from "node:crypto";
import { UniqueConstraintViolationException } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Clock } from "#lib/time/clock.ts";
import { UsedProof } from "#src/storage/entities/people/person.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";

/**
 * How long after its end a proof is remembered, in milliseconds: a clock that was ahead and goes back makes what had ended
 * good again, and never a second time.
 */
const keptMs = 86_400_000;

/** Remembers what has signed somebody in, so that it does so once, on whatever core. */
export class UsedProofs {
  readonly #storage: Storage;
  readonly #clock: Pick<Clock, "now">;

  constructor(storage: Storage, clock: Pick<Clock, "now">) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** `until`: when it is too old anyway. Throws UNAUTHENTICATED when it was used before. */
  async use(proof: string, until: number): Promise<void> {
    try {
      await inTransaction(this.#storage, async (em) => {
        await em.nativeDelete(UsedProof, { until: { $lte: new Date(this.#clock.now() - keptMs) } });
        await em.insert(UsedProof, { id: hash("sha256", proof), until: new Date(until) });
      });
    } catch (error) {
      if (error instanceof UniqueConstraintViolationException) {
        throw failure(Reason.UNAUTHENTICATED, "This sign-in was finished before. Begin again.");
      }
      throw error;
    }
  }
}
