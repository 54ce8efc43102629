import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { toDuration } from "#lib/time/duration.ts";
import { EngineFault } from "../../engines/interface.ts";
import type { Member } from "../member.ts";

const retryAfterMs = 2000;

/** A model's servers and its queue, as a refusal tells of them. */
interface RefusingPool {
  readonly modelId: string;
  readonly members: readonly Member[];
  readonly waiting: number;
}

/** The errors of requests that get no server. What they say of the pool goes to the log only. */
export class Refusals {
  readonly #pool: RefusingPool;
  /** Until a server that is down has been checked again. */
  readonly #checkMs: number;

  constructor(pool: RefusingPool, checkMs: number) {
    this.#pool = pool;
    this.#checkMs = checkMs;
  }

  /** Whether no server is up: those that are not drained are down. */
  get isDown(): boolean {
    const used = this.#pool.members.filter(({ draining }) => !draining);
    return used.length > 0 && used.every(({ isDown }) => isDown);
  }

  /** The model is no longer served. */
  gone(): Error {
    return failure(Reason.MODEL_NOT_FOUND, `The model '${this.#pool.modelId}' is no longer served.`, {
      parameter: "model",
    });
  }

  /** No server of the model is up. */
  down(): Error {
    const [last] = this.#pool.members.filter(({ isDown }) => isDown);
    return failure(
      Reason.NO_SERVER,
      "No server of this model is up.",
      { retryAfter: toDuration(Math.ceil(this.#checkMs)) },
      new EngineFault(`no server is up: ${last?.id} ${last?.lastError}`, false),
    );
  }

  /** The model has too much to do. `retryMs`: when a retry makes sense. */
  busy(why: string, retryMs = retryAfterMs): Error {
    const running = this.#pool.members.reduce((sum, member) => sum + member.inFlight, 0);
    return failure(
      Reason.OVERLOADED,
      "The model is busy. Try again shortly.",
      { retryAfter: toDuration(Math.ceil(retryMs)) },
      new EngineFault(`${why}: ${running} requests run, ${this.#pool.waiting} wait`, false),
    );
  }

  /** The request has waited in vain. */
  late(): Error {
    return this.isDown ? this.down() : this.busy("no server became free in time");
  }
}
