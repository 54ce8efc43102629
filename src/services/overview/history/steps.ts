import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import { Turns } from "#lib/time/turns.ts";
import { ServiceStep } from "#src/storage/entities/history/service-step.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { countsSince } from "../quantile.ts";
import type { Counted } from "../sampler.ts";
import { firstTokenMeasure, refusedMeasure } from "./measures.ts";

const storeS = 10;
const purgeMs = 3_600_000;
const nanoUsd = 1e9;

/** The steps that are kept: minutes of a day, hours of a week, and a little more. */
const kept = [
  { seconds: 60, steps: 25 * 60 },
  { seconds: 3600, steps: 8 * 24 },
] as const;

interface Dependencies {
  readonly storage: Storage;
  readonly count: () => Promise<Counted>;
  /** Requests that run on servers, and those that wait for one. */
  readonly load: () => { readonly inFlight: number; readonly queued: number };
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Adds what a core has counted to the steps of all cores every ten seconds, so that plots survive a restart. A core that
 * dies loses those seconds. Nothing is written while nothing happens.
 */
export class Steps {
  readonly #parts: Dependencies;
  readonly #turns = new Turns();
  #before: Counted | undefined;
  #purgedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Starts storing. Returns the function that stores the rest and ends it. */
  start(): () => Promise<void> {
    const { clock, logger } = this.#parts;
    const stop = repeat(clock, storeS * 1000, logger, "store the steps of the overview", () => this.store());
    return async () => {
      stop();
      await this.store();
    };
  }

  /** Adds what was counted since the last time that this succeeded, once: the end waits for what is being stored. */
  store(): Promise<void> {
    return this.#turns.take(() => this.#store());
  }

  async #store(): Promise<void> {
    const { storage, count, load, clock } = this.#parts;
    const counted = await count();
    const now = clock.now() / 1000;
    const measures = toMeasures(this.#before, counted, load());
    const rows = kept.flatMap(({ seconds }) =>
      measures.map(([measure, value]) => [seconds, Math.floor(now / seconds), measure, value]),
    );
    if (rows.length > 0) {
      const sql = `insert into service_step (seconds, at, measure, count) values ${rows.map(() => "(?, ?, ?, ?)").join(", ")}
        on conflict (seconds, at, measure) do update set count = service_step.count + excluded.count`;
      await inTransaction(storage, (em) => em.execute(sql, rows.flat()));
    }
    this.#before = counted;
    await this.#purge(now);
  }

  async #purge(now: number): Promise<void> {
    const { storage, clock } = this.#parts;
    if (clock.monotonic() - this.#purgedAt < purgeMs) {
      return;
    }
    this.#purgedAt = clock.monotonic();
    await inTransaction(storage, async (em) => {
      for (const { seconds, steps } of kept) {
        await em.nativeDelete(ServiceStep, { seconds, at: { $lt: Math.floor(now / seconds) - steps } });
      }
    });
  }
}

/** What is above zero, by measure, in an order in which cores never wait for each other in a circle. */
function toMeasures(
  before: Counted | undefined,
  counted: Counted,
  { inFlight, queued }: { readonly inFlight: number; readonly queued: number },
): [string, number][] {
  const since = (read: (of: Counted) => number) => read(counted) - (before === undefined ? 0 : read(before));
  const all: [string, number][] = [
    ["input_tokens", since(({ inputTokens }) => inputTokens)],
    ["output_tokens", since(({ outputTokens }) => outputTokens)],
    ["requests", since(({ requests }) => requests)],
    ["cost_nano_usd", since(({ cost }) => cost) * nanoUsd],
    ["in_flight_seconds", inFlight * storeS],
    ["queued_seconds", queued * storeS],
    ...[...counted.refusals].map(([reason, count]): [string, number] => [
      refusedMeasure + reason,
      count - (before?.refusals.get(reason) ?? 0),
    ]),
    ...countsSince(before?.firstTokens ?? [], counted.firstTokens).map(([upTo, count]): [string, number] => [
      firstTokenMeasure + upTo,
      count,
    ]),
  ];
  return all
    .map(([measure, value]): [string, number] => [measure, Math.round(value)])
    .filter(([, value]) => value > 0)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}
