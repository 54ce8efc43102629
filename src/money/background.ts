import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import { hourMs } from "#lib/time/days.ts";
import { repeat } from "#lib/time/repeat.ts";
import type { ModelConfig } from "#src/config/schema.ts";
import type { JudgedClock } from "#src/storage/database-clock.ts";
import type { Storage } from "#src/storage/storage.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import { expireLots } from "./books/expiry.ts";
import { SharedProof } from "./books/proof/shared-proof.ts";
import { Sealer } from "./books/seals/sealer.ts";
import type { DeadLetters } from "./ledger/settlement/dead-letters.ts";
import type { BalanceJudge } from "./model/balances.ts";
import type { CoreLedger } from "./model/core-ledger.ts";
import type { MeteringObserver } from "./model/observer.ts";
import type { LedgerStore } from "./model/store/ledger.ts";
import { createPriceController } from "./prices/price-controller.ts";
import type { PriceList } from "./prices/price-list.ts";

const pricesMs = 5000;
const expiryMs = 60_000;
const foldMs = 60_000;
const daysMs = 600_000;
const deadLettersMs = 30_000;
const firstCountMs = 1000;
const firstProofMs = 60_000;

interface Dependencies {
  readonly storage: Storage;
  readonly ledger: Pick<CoreLedger, "unknownSlices">;
  readonly store: Pick<LedgerStore, "foldTallies" | "makeDays">;
  readonly prices: PriceList;
  /** Judges the balances that lapsed money leaves. Absent: they are not judged. */
  readonly balances?: Pick<BalanceJudge, "judgeFall">;
  readonly models: () => readonly ModelConfig[];
  /** The part of a model's capacity that is in use. */
  readonly utilisation: (model: string) => number;
  readonly pricing: { readonly interval_s: number; readonly max_step: number };
  readonly clock: JudgedClock;
  readonly random: Random;
  readonly logger: Logger;
  readonly deadLetters: Pick<DeadLetters, "count">;
  readonly observer: Pick<MeteringObserver, "reconciled" | "provedElsewhere" | "deadLetters" | "daysAhead">;
  /** Begins the pace of a proof, as of SharedProof. Absent: proofs end as soon as they can. */
  readonly beginPace?: () => () => Promise<void>;
}

/**
 * Starts the work that keeps the books in order while requests run: prices move and are read again, lots expire, and
 * the books are proved repeatedly. Returns the function that ends all of this work.
 */
export function startBackground(parts: Dependencies): () => void {
  const { storage, ledger, prices, models, utilisation, pricing, clock, random, logger, deadLetters, observer } = parts;
  const intervalMs = pricing.interval_s * 1000;
  const maxStep = pricing.max_step;
  const movePrices = createPriceController({ prices, models, utilisation, maxStep, intervalMs, clock });
  const lease = new WorkLease({ storage, clock, random, name: "proof" });
  const sealer = new Sealer({ storage, clock, random, logger });
  const proof = new SharedProof({
    ...{ storage, ledger, sealer, lease, clock, logger, observer },
    beginPace: parts.beginPace ?? (() => async () => {}),
  });
  const foldTallies = async () => {
    while ((await parts.store.foldTallies(Math.floor(clock.now() / hourMs))) > 0) {}
  };
  const countDeadLetters = async () => observer.deadLetters(await deadLetters.count());
  const jobs = [
    repeat(clock, intervalMs, logger, "move prices", movePrices),
    repeat(clock, expiryMs, logger, "let lots expire", () => expireLots(parts)),
    repeat(clock, foldMs, logger, "sum the usage of hours that are over", foldTallies),
    // Cores that start together should not all want the first proof at the same moment.
    proof.start(firstProofMs * (0.5 + random.fraction())),
    repeat(clock, deadLettersMs, logger, "count the dead letters", countDeadLetters, firstCountMs),
  ];
  if (storage.dialect === "postgresql") {
    const daysLease = new WorkLease({ storage, clock, random, name: "days" });
    const tellDays = async (isMine: () => Promise<boolean>) => {
      const ahead = await parts.store.makeDays(clock.now(), isMine);
      if (ahead !== undefined) {
        observer.daysAhead(ahead);
      }
    };
    /** What cannot be made is told to be missing. */
    const makeDays = () =>
      tellDays(() => daysLease.hold()).catch(async (error: unknown) => {
        await tellDays(async () => false);
        throw error;
      });
    jobs.push(
      repeat(clock, pricesMs, logger, "read the prices", () => prices.refresh()),
      repeat(clock, daysMs, logger, "make the tables of the days to come", makeDays, firstCountMs),
    );
  }
  return () => {
    for (const stop of jobs) {
      stop();
    }
  };
}
