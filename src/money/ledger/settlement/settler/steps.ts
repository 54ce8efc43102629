import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { Outage } from "#lib/errors/outage.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import type { Charge } from "../../../model/charges/charge.ts";
import type { ChargeStore, StoredCharge } from "../../../model/store/charge.ts";
import { type AgedCharges, agedReason } from "../aged-charges.ts";
import type { Conclusions } from "../conclusions.ts";
import type { DeadLetters } from "../dead-letters.ts";
import type { LateCharges } from "../late-charges.ts";
import { isLasting } from "./lasting.ts";
import { isConcluded, type OpenCharge, type OpenCharges } from "./open-charges.ts";
import type { Pauses } from "./pauses.ts";
import { toRest } from "./run-rest.ts";

/** The longest pause between two attempts at a single charge, in milliseconds; no other charge waits for it. */
const lastRetryMs = 5000;
/** Failures while the store can be reached after which a charge is given up: about a minute and a half. */
const mostAttempts = 20;

/** The next step of a charge. giveUp: the charge goes to the dead letters, with this reason. */
export type Step = "commit" | "rest" | "renew" | "done" | { readonly giveUp: unknown };

interface Dependencies {
  readonly store: Pick<ChargeStore, "settled">;
  readonly deadLetters: Pick<DeadLetters, "put">;
  readonly conclusions: Pick<Conclusions, "settled" | "superseded">;
  readonly late: Pick<LateCharges, "renew">;
  readonly aged: Pick<AgedCharges, "isAged">;
  /** Called with each charge that the store has, although its reply was lost. */
  readonly stored: (charge: Charge) => void;
  readonly charges: OpenCharges;
  readonly pauses: Pauses;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The steps of a single charge that the store did not take at the first commit. Each step is tried until it succeeds or
 * the ledger closes, and returns the next step. No step rejects.
 */
export class Steps {
  readonly #parts: Dependencies;
  readonly #asking: Outage;
  readonly #renewing: Outage;

  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#asking = new Outage(
      parts,
      "the store could not say what it had charged of a run",
      "the store can say again what it had charged of a run",
    );
    this.#renewing = new Outage(
      parts,
      "a fenced charge could not be made anew",
      "fenced charges can be made anew again",
    );
  }

  /**
   * The store has a charge of the run: this charge, when the store's reply was lost, or one that a successor of this
   * core made for the tokens that it knew. Then the rest is charged.
   */
  async settleRest(open: OpenCharge): Promise<Step> {
    for (let attempt = 1; ; attempt++) {
      try {
        const stored = (await this.#parts.store.settled([open.charge])).get(open.charge.runId);
        this.#asking.succeeded();
        const { charge } = open; // it may have been promised meanwhile
        if (stored === undefined) {
          return "commit"; // the database has failed over into the past meanwhile
        }
        const rest = toRest(charge, stored);
        if (rest === undefined) {
          return this.#concludeRepeated(open, stored);
        }
        this.#parts.logger.warn({ requestId: charge.requestId, charged: stored }, "the rest of a run is charged");
        this.#parts.conclusions.superseded(charge);
        open.charge = rest;
        return "renew";
      } catch (error) {
        this.#asking.failed(error);
      }
      if (!(await this.#mayTryAgain(attempt))) {
        return "done";
      }
    }
  }

  #concludeRepeated({ charge, run, doubtful, promised, durable, isAgain }: OpenCharge, stored: StoredCharge): Step {
    const { inputTokens, outputTokens, status } = charge;
    const same = stored.inputTokens === inputTokens && stored.outputTokens === outputTokens && stored.status === status;
    const mayBeOurs = doubtful || promised;
    const covered = mayBeOurs || stored.status === "recovered" || charge.runId !== run.runId;
    const outcome = mayBeOurs && same ? "stored" : covered ? "covered" : "repeated";
    this.#parts.conclusions.settled(charge, outcome, run, isAgain);
    if (outcome === "stored") {
      this.#parts.stored(charge);
    }
    durable(charge);
    return "done";
  }

  /** Makes a charge anew. Tries until it can, or until it is clear that it never will. */
  async renew(open: OpenCharge): Promise<Step> {
    for (let attempt = 1, failures = 0; ; attempt++) {
      try {
        if (await this.#parts.aged.isAged(open)) {
          return { giveUp: agedReason };
        }
        const told = () => open.charge.told;
        open.charge = await this.#parts.late.renew(open.charge, told, isConcluded(open));
        this.#renewing.succeeded();
        return "commit";
      } catch (error) {
        this.#renewing.failed(error);
        if (!isUnreachable(error)) {
          failures++;
        }
        if (isLasting(error) || failures >= mostAttempts) {
          return { giveUp: error };
        }
      }
      if (!(await this.#mayTryAgain(attempt))) {
        return "done";
      }
    }
  }

  /** Puts a charge that cannot be made among the dead letters. Tries until the database takes it. */
  async putAway(open: OpenCharge, why: unknown): Promise<Step> {
    const { charge } = open;
    const reason = why instanceof Error ? why.message : String(why);
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#parts.deadLetters.put(charge, reason);
        break;
      } catch (error) {
        if (attempt === 1) {
          this.#parts.logger.error({ error, charge, reason }, "a charge that cannot be made could not be put aside");
        }
      }
      if (!(await this.#mayTryAgain(attempt))) {
        return "done";
      }
    }
    this.#parts.logger.error({ charge, reason }, "a charge cannot be made and is among the dead letters");
    this.#parts.conclusions.settled(charge, "refused", open.run, isConcluded(open));
    open.refused(notRecorded(why));
    return "done";
  }

  /**
   * Has the journal promise what takes this long, so that no caller waits, and pauses. False: the ledger closes, and
   * the journal keeps the charge.
   */
  async #mayTryAgain(attempt: number): Promise<boolean> {
    await this.#parts.charges.promise();
    if (this.#parts.pauses.over) {
      return false;
    }
    await this.#parts.pauses.pause(attempt, lastRetryMs);
    return true;
  }
}

/** The error for the caller of a charge that was given up. */
export function notRecorded(why: unknown) {
  return failure(Reason.LEDGER_UNAVAILABLE, "The usage could not be recorded.", {}, why);
}
