import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { pacer } from "#lib/time/pacer.ts";
import { repeat } from "#lib/time/repeat.ts";
import type { Storage } from "#src/storage/storage.ts";
import { type WorkLease, whileRenewing } from "#src/storage/work-lease.ts";
import type { CoreLedger } from "../../model/core-ledger.ts";
import type { MeteringObserver } from "../../model/observer.ts";
import type { Sealer } from "../seals/sealer.ts";
import { type LastProof, readLastProof, storeLastProof } from "./last-proof.ts";
import { reconcile, unknownSlices } from "./reconcile.ts";

const lookMs = 60_000;
const proveMs = 3_600_000;
/** Most changes happen at a start, so a core wants a proof from after its own, but no core of many one for itself alone. */
const proveAfterStartMs = 600_000;
/** How many times its own time the proof of every hour leaves to requests: it takes a tenth of a processor at most. */
const shareLeft = 9;
/** A day whose proof would leave them more than this gets half a processor for the rest, so that the proof ends within its hour. */
const mostLeftMs = 1_800_000;

/** Begins the pace of a proof that nobody waits for. */
export const beginPace = (clock: Pick<Clock, "monotonic" | "after">): (() => Promise<void>) =>
  pacer(clock, shareLeft, mostLeftMs);

interface Dependencies {
  readonly storage: Storage;
  readonly ledger: Pick<CoreLedger, "unknownSlices">;
  readonly sealer: Pick<Sealer, "sealDue">;
  /** Lets one core prove for all. */
  readonly lease: Pick<WorkLease, "hold" | "release">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Pick<MeteringObserver, "reconciled" | "provedElsewhere">;
  /** Begins the pace of a proof: the function that it gives leaves time to requests. Nobody waits for this proof. */
  readonly beginPace: () => () => Promise<void>;
}

/**
 * Proves the books every hour on one core for all cores of a database, after days that are over were sealed. The others
 * show its result from the store, and prove only what no other core can: that they know the money which is leased to
 * them. A finding is logged as an alarm and left as it is.
 */
export class SharedProof {
  readonly #of: Dependencies;
  readonly #startedAt: number;
  /** The time of the proof that this core showed last. */
  #shownAt: number | undefined;

  constructor(parts: Dependencies) {
    this.#of = parts;
    this.#startedAt = parts.clock.now();
  }

  /** Starts proving, with a first look after `firstLookMs`. Returns the function that ends it. */
  start(firstLookMs: number): () => void {
    const { clock, logger } = this.#of;
    return repeat(clock, lookMs, logger, "prove the books", () => this.look(), firstLookMs);
  }

  /** Proves the books when it is time and no other core does, and shows the last proof. */
  async look(): Promise<void> {
    const { storage, lease } = this.#of;
    let last = await readLastProof(storage);
    if (this.#isDue(last) && (await lease.hold())) {
      try {
        last = await readLastProof(storage); // another core may have proved them since
        if (this.#isDue(last)) {
          await whileRenewing(lease, this.#of, "prove the books", () => this.#prove());
          return;
        }
      } finally {
        await lease.release();
      }
    }
    if (last !== undefined && last.at !== this.#shownAt) {
      await this.#show(last);
    }
  }

  #isDue(last: LastProof | undefined): boolean {
    if (last === undefined) {
      return true;
    }
    const age = Math.abs(this.#of.clock.now() - last.at); // a clock that was set back must not end all proofs
    return age >= (last.at < this.#startedAt ? proveAfterStartMs : proveMs);
  }

  async #prove(): Promise<void> {
    const { storage, ledger, sealer, clock, logger, observer, beginPace } = this.#of;
    await sealer.sealDue().catch((error: unknown) => logger.error({ error }, "could not seal the days that are over"));
    const proof = await reconcile(storage, ledger, { pace: beginPace() });
    this.#shownAt = clock.now();
    observer.reconciled(proof);
    this.#alarm(proof.findings);
    await storeLastProof(storage, { at: this.#shownAt, proof });
  }

  async #show({ at, proof }: LastProof): Promise<void> {
    const { ledger, observer } = this.#of;
    const own = await unknownSlices(ledger);
    this.#shownAt = at;
    observer.provedElsewhere(at, proof.ok);
    if (own.length > 0) {
      observer.reconciled({ ...proof, ok: false, findings: [...own, ...proof.findings] });
      this.#alarm(own);
    }
  }

  #alarm(findings: readonly object[]): void {
    if (findings.length > 0) {
      this.#of.logger.error({ findings: findings.slice(0, 10) }, "the books do not add up");
    }
  }
}
