import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Journal } from "../../../journal/journal.ts";
import type { Announcements } from "../../../model/announcements.ts";
import type { Charge } from "../../../model/charges/charge.ts";
import type { MeteringObserver } from "../../../model/observer.ts";
import type { ChargeStore } from "../../../model/store/charge.ts";
import { AgedCharges } from "../aged-charges.ts";
import { findFault } from "../charge-faults.ts";
import type { Conclusions } from "../conclusions.ts";
import type { DeadLetters } from "../dead-letters.ts";
import type { LateCharges } from "../late-charges.ts";
import { type Committed, GroupCommit } from "./group-commit.ts";
import { type OpenCharge, OpenCharges } from "./open-charges.ts";
import { Pauses } from "./pauses.ts";
import { notRecorded, type Step, Steps } from "./steps.ts";

/** No request is admitted while this many charges wait for the store. */
const maxBacklog = 20_000;

interface Dependencies {
  readonly store: ChargeStore & Pick<Announcements, "shared">;
  readonly journal: Journal;
  readonly deadLetters: Pick<DeadLetters, "put">;
  readonly conclusions: Pick<Conclusions, "settled" | "superseded">;
  /** Called with each charge that the store has taken. */
  readonly stored: (charge: Charge) => void;
  readonly late: Pick<LateCharges, "renew">;
  /** The first moment whose receipts are all in the books, in milliseconds since the epoch. 0: all receipts are. */
  readonly readKeptFrom: () => Promise<number>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Pick<MeteringObserver, "committed" | "refused">;
}

/**
 * Sees charges through. A charge is durable once the store has it or the journal has promised it. A promised charge
 * still goes to the store, however long that takes, and the store takes it once. When the store belongs to this core
 * alone, as SQLite does, the journal promises every charge at once: both lie on the same machine, and a line costs a
 * tenth of a row. A store that cores share outlives this machine's disk, so the journal promises only charges that the
 * store is slow to take. A charge that can never be made does not delay the others and is not tried for ever: it
 * becomes a dead letter, and only then does the journal forget it.
 */
export class Settler {
  readonly #parts: Dependencies;
  readonly #charges: OpenCharges;
  readonly #pauses: Pauses;
  readonly #commits: GroupCommit;
  readonly #steps: Steps;
  /** The number of charges being followed now. */
  #followed = 0;
  #stopPromising = () => {};

  constructor(parts: Dependencies) {
    this.#parts = parts;
    const promisesFirst = parts.journal.lasting && !parts.store.shared;
    this.#charges = new OpenCharges(parts.journal, parts.clock, promisesFirst);
    this.#pauses = new Pauses(parts.clock);
    const shared = {
      ...parts,
      charges: this.#charges,
      pauses: this.#pauses,
      aged: new AgedCharges(parts.readKeptFrom),
    };
    this.#commits = new GroupCommit({
      ...shared,
      promisesFirst,
      conclude: (open, outcome) => this.#committed(open, outcome),
    });
    this.#steps = new Steps(shared);
  }

  /** True when so many charges wait that no further request may be admitted. */
  get overdue(): boolean {
    return this.backlog >= maxBacklog;
  }

  /** Charges that wait for the store. */
  get backlog(): number {
    return this.#charges.size;
  }

  /**
   * Settles a charge. Resolves with the charge as it was made, once it is durable. Rejects with LEDGER_UNAVAILABLE when
   * the charge was given up: it is durable then, too, but has no receipt yet.
   */
  settle(charge: Charge): Promise<Charge> {
    return new Promise((durable, refused) => {
      this.#begin({ ...toOpen(charge, false), durable, refused }, "commit");
    });
  }

  /**
   * Puts a charge that cannot be made among the dead letters. Rejects with LEDGER_UNAVAILABLE once it is there, or the
   * journal has it: it has no cost yet.
   */
  giveUp(charge: Charge, why: unknown): Promise<never> {
    return new Promise((_, refused) => {
      const durable = () => refused(notRecorded(why));
      this.#begin({ ...toOpen(charge, false), durable, refused }, { giveUp: why });
    });
  }

  /**
   * Settles a charge that the journal has promised. Resolves when nothing is left to do, or with "fenced": its slices
   * are lost, and it has to be made anew.
   */
  recover(charge: Charge): Promise<"settled" | "fenced"> {
    return new Promise((resolve) => {
      const settled = () => resolve("settled");
      const fenced = () => resolve("fenced");
      const known = toOpen(charge, true);
      this.#begin({ ...known, durable: settled, refused: settled, fenced }, unlessFaulty(charge, "commit"));
    });
  }

  /**
   * Makes a charge for the tokens it states, and settles it. Resolves when nothing is left to do. The journal knows it, unless
   * `isAgain`: it was settled before, and the store has lost it since. Then the journal's promise is enough.
   */
  remake(charge: Charge, isAgain = false): Promise<void> {
    return new Promise((resolve) => {
      const known = { ...toOpen(charge, true), promised: !isAgain };
      const done = () => resolve();
      this.#begin({ ...known, durable: done, refused: done, isAgain }, unlessFaulty(charge, "renew"));
    });
  }

  /**
   * Resolves when the store has answered to all charges so far, or after the given time. For callers that read the
   * store next.
   */
  caughtUp(mostMs: number): Promise<void> {
    return this.#commits.caughtUp(mostMs);
  }

  /**
   * Commits the waiting charges. The journal keeps charges that a failing store does not take or that cannot be made
   * anew.
   */
  close(): Promise<void> {
    this.#pauses.end();
    return this.#commits.flush(this.#charges.emptied());
  }

  #begin(open: OpenCharge, step: Step): void {
    this.#charges.add(open);
    if (step === "commit") {
      this.#commits.commit(open);
    } else {
      void this.#follow(open, step);
    }
  }

  /**
   * Takes the next steps of a charge until it can be committed or is done. Slow charges are promised meanwhile. Never
   * rejects.
   */
  async #follow(open: OpenCharge, first: Step): Promise<void> {
    if (this.#followed++ === 0) {
      this.#stopPromising = this.#charges.promiseWhileSlow();
    }
    let step = first;
    while (step !== "done" && step !== "commit") {
      step = await this.#advance(open, step);
    }
    this.#followed--;
    if (this.#followed === 0) {
      this.#stopPromising();
    }
    if (step === "commit") {
      this.#commits.commit(open);
    } else {
      this.#charges.delete(open);
    }
  }

  /** Takes one step. Resolves with the next one. */
  #advance(open: OpenCharge, step: Exclude<Step, "commit" | "done">): Promise<Step> {
    if (step === "renew") {
      return this.#steps.renew(open);
    }
    return step === "rest" ? this.#steps.settleRest(open) : this.#steps.putAway(open, step.giveUp);
  }

  #committed(open: OpenCharge, outcome: Committed): void {
    if (outcome === "stored") {
      this.#parts.conclusions.settled(open.charge, "stored", open.run, open.isAgain);
      this.#parts.stored(open.charge);
      open.durable(open.charge);
      this.#charges.delete(open);
    } else {
      void this.#follow(open, this.#afterCommit(open, outcome));
    }
  }

  #afterCommit(open: OpenCharge, outcome: Exclude<Committed, "stored">): Step {
    switch (outcome) {
      case "repeated":
        return "rest";
      case "fenced":
        open.fenced?.();
        return open.fenced === undefined ? "renew" : "done";
      case "left":
        return "done";
      default:
        return { giveUp: outcome.impossible };
    }
  }
}

/** `known`: the journal has promised it, and the store may have it. */
function toOpen(charge: Charge, known: boolean): Omit<OpenCharge, "durable" | "refused"> {
  const unlisted = { list: undefined, earlier: undefined, later: undefined };
  return { charge, run: charge, promised: known, doubtful: known, concluded: false, ...unlisted };
}

function unlessFaulty(charge: Charge, step: "commit" | "renew"): Step {
  const fault = findFault(charge);
  return fault === undefined ? step : { giveUp: fault };
}
