import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { OverviewSampleSchema } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import { type Buckets, countsSince, estimateQuantile } from "./quantile.ts";

/** One sample as a message of the contract. */
export type Sample = MessageInitShape<typeof OverviewSampleSchema>;

/** Counts since the process started; see the telemetry's Totals. */
export interface Counted {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly requests: number;
  readonly refusals: ReadonlyMap<string, number>;
  /** In USD. */
  readonly cost: number;
  readonly firstTokens: Buckets;
}

interface Dependencies {
  readonly count: () => Promise<Counted>;
  readonly servers: () => readonly Server[];
  /** The number of requests that wait for a server. */
  readonly queued: () => number;
  /** The cost of the servers in an hour, in pico-USD. Undefined: one of them has no price. */
  readonly serversCost: () => bigint | undefined;
  /** When a core last proved the books, and with what result. Undefined: never. */
  readonly lastProof: () => { readonly at: number; readonly ok: boolean } | undefined;
  /** The number of cores that share the database. */
  readonly countCores: () => Promise<number>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const everyMs = 1000;
/** Samples that a new watcher gets. */
const kept = 300;
/** Rates are taken over this many samples; rarer figures over a minute. */
const rateSamples = 5;
const minuteSamples = 60;
/** Samples between two counts of the cores, which query the database. */
const coreSamples = 10;

interface Reading {
  readonly at: number;
  readonly counted: Counted;
}

/** Samples the core once a second and shows the samples to any number of watchers. */
export class Sampler {
  readonly #parts: Dependencies;
  readonly #samples: Sample[] = [];
  readonly #readings: Reading[] = [];
  readonly #watchers = new Set<() => void>();
  #taken = 0;
  #cores = 1;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Starts sampling. Returns the function that ends it and every watcher's stream. */
  start(): () => void {
    const { clock, logger } = this.#parts;
    const stop = repeat(clock, everyMs, logger, "take a sample for the overview", () => this.take());
    return () => {
      stop();
      this.#taken = Number.POSITIVE_INFINITY;
      this.#wake();
    };
  }

  /** Takes a sample now. */
  async take(): Promise<void> {
    const { count, clock, countCores } = this.#parts;
    // The cores are not counted while nobody watches.
    if (this.#watchers.size > 0 && this.#taken % coreSamples === 0) {
      this.#cores = Math.max(1, await countCores().catch(() => this.#cores));
    }
    const reading = { at: clock.monotonic(), counted: await count() };
    this.#readings.push(reading);
    this.#readings.splice(0, this.#readings.length - minuteSamples - 1);
    this.#samples.push(this.#describe(reading));
    this.#samples.splice(0, this.#samples.length - kept);
    this.#taken += 1;
    this.#wake();
  }

  /** The kept samples, then each new one. A watcher that reads slowly gets only the newest. */
  async *watch(signal: AbortSignal): AsyncGenerator<Sample[]> {
    yield [...this.#samples];
    let seen = this.#taken;
    while (!signal.aborted) {
      if (this.#taken === seen) {
        await this.#next(signal);
        continue;
      }
      const newest = this.#samples.at(-1);
      if (this.#taken === Number.POSITIVE_INFINITY || newest === undefined) {
        return;
      }
      seen = this.#taken;
      yield [newest];
    }
  }

  #next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#watchers.delete(end);
        signal.removeEventListener("abort", end);
        resolve();
      };
      this.#watchers.add(end);
      signal.addEventListener("abort", end);
    });
  }

  #wake(): void {
    for (const watcher of [...this.#watchers]) {
      watcher();
    }
  }

  #describe({ at, counted }: Reading): Sample {
    const { clock, servers, queued, serversCost, lastProof } = this.#parts;
    const recent = this.#readings.at(-1 - rateSamples) ?? this.#readings[0];
    const minute = this.#readings[0];
    const rate = (read: (of: Counted) => number, since: Reading | undefined) =>
      since === undefined || at <= since.at ? 0 : ((read(counted) - read(since.counted)) * 1000) / (at - since.at);
    const firstTokens = countsSince(minute?.counted.firstTokens ?? [], counted.firstTokens);
    const inUse = servers().filter(({ state }) => state === ServerState.HEALTHY);
    const [p50, p99] = [estimateQuantile(firstTokens, 0.5), estimateQuantile(firstTokens, 0.99)];
    const [proof, cost] = [lastProof(), serversCost()];
    return {
      at: timestampFromMs(Math.floor(clock.now())),
      inputTokensPerSecond: rate(({ inputTokens }) => inputTokens, recent),
      outputTokensPerSecond: rate(({ outputTokens }) => outputTokens, recent),
      requestsPerSecond: rate(({ requests }) => requests, recent),
      refusals: refusalsSince(minute?.counted, counted),
      ...(p50 !== undefined && { firstTokenP50Seconds: p50 }),
      ...(p99 !== undefined && { firstTokenP99Seconds: p99 }),
      queued: queued(),
      inFlight: servers().reduce((sum, { inFlight }) => sum + inFlight, 0),
      capacity: inUse.reduce((sum, { capacity }) => sum + capacity, 0),
      earnedPicoUsdPerHour: BigInt(Math.round(rate((of) => of.cost, minute) * 3600 * 1e6)) * 1_000_000n,
      ...(cost !== undefined && { serversPicoUsdPerHour: cost }),
      ...(proof !== undefined && { booksProvedAt: timestampFromMs(Math.floor(proof.at)), booksOk: proof.ok }),
      cores: this.#cores,
    };
  }
}

function refusalsSince(before: Counted | undefined, after: Counted) {
  return [...after.refusals]
    .map(([reason, count]) => ({ reason, requests: count - (before?.refusals.get(reason) ?? 0) }))
    .filter(({ requests }) => requests > 0)
    .sort((one, other) => other.requests - one.requests)
    .map(({ reason, requests }) => ({ reason, requests: BigInt(Math.round(requests)) }));
}
