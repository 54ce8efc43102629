import type { ReconcileFinding } from "#gen/tollgate/metering/v1/books_service_pb.js";
import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { pacer } from "#lib/time/pacer.ts";
import type { Storage } from "#src/storage/storage.ts";
import { readKeptFrom } from "../../store/kept-from.ts";
import { allAccounts } from "../../store/rollups.ts";
import { inSnapshot } from "../proof/breaches.ts";
import { readSealedDays, type SealedDay } from "../proof/scope.ts";
import { lacksReceipts } from "../proof/seal-checks.ts";
import { sealDay } from "./seal-day.ts";

/** After midnight, the last charges of a day have this long to come and to be summed up. */
const settleMs = 3_600_000;
/** Sealing begins no further day after this long, so that the proof of open days never waits for more. */
const mostMs = 600_000;
/** Between two pieces, as long as one takes is left to other work. */
const share = 1;

export interface Dependencies {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Pick<Random, "uuid">;
  readonly logger: Logger;
}

/** Proves and seals days that are over. */
export class Sealer {
  readonly #of: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#of = dependencies;
  }

  /** Seals the days that are over, oldest first, as far as time allows. A day that breaks a rule stays open. */
  async sealDue(): Promise<void> {
    const { clock } = this.#of;
    const end = Math.floor((clock.now() - settleMs) / dayMs);
    const since = clock.monotonic();
    for (const day of await this.#findUnsealed(end)) {
      if (clock.monotonic() - since >= mostMs) {
        return;
      }
      await this.seal(day);
    }
  }

  /** Seals a day, unless its seal is whole or charges of it are not summed up yet. Returns the rows that forbid it. */
  async seal(day: number): Promise<readonly ReconcileFinding[]> {
    const { storage, clock, random, logger } = this.#of;
    const sealed = (await inSnapshot(storage, readSealedDays)).find((one) => one.day === day);
    if (sealed !== undefined && (sealed.isWhole || lacksReceipts(sealed))) {
      return [];
    }
    const sealing = await sealDay({ storage, clock, random, pace: pacer(clock, share) }, day);
    if ("findings" in sealing) {
      logger.error(
        { day, findings: sealing.findings.slice(0, 10) },
        "a day is not sealed, because its receipts do not add up",
      );
      return sealing.findings;
    }
    const { number, receipts, root, chain } = sealing.seal;
    if (sealed === undefined) {
      logger.info({ day, number, receipts, root, chain }, "a day was sealed");
    } else {
      logger.warn(
        { day, number, late: receipts - sealed.receipts, root, chain },
        "a day was sealed anew: charges came late",
      );
    }
    return [];
  }

  /** The days before `end`, since the first with receipts, without a whole seal and with all charges summed up. */
  async #findUnsealed(end: number): Promise<number[]> {
    const { storage } = this.#of;
    const em = storage.orm.em.fork();
    const [first] = await em.execute<{ slot: number | null }[]>(
      `select min(slot) as slot from usage_rollup where account_id = '${allAccounts}' and span = 'day'`,
    );
    const tallies = await em.execute<{ day: number }[]>(
      "select distinct hour / 24 as day from usage_tally where hour < ?",
      [end * 24],
    );
    const moving = new Set(tallies.map(({ day }) => Number(day)));
    const sealed = new Map((await inSnapshot(storage, readSealedDays)).map((one) => [one.day, one]));
    const from = Math.max(Number(first?.slot ?? end), (await readKeptFrom(storage)) / dayMs);
    const days = Array.from({ length: Math.max(0, end - from) }, (_, at) => from + at);
    return days.filter((day) => !moving.has(day) && isLate(sealed.get(day)));
  }
}

/** Whether a day has no seal, or one without the charges that came later. */
const isLate = (sealed: SealedDay | undefined): boolean =>
  sealed === undefined || (!sealed.isWhole && !lacksReceipts(sealed));
