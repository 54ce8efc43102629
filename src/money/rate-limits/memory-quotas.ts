import type { Clock } from "#lib/time/clock.ts";
import { type CountedSecond, computeLapse, judge, type QuotaDemand, type QuotaState, windowMs } from "./quota.ts";
import { Round } from "./round.ts";

/** The result of demanding parts of several quotas. */
export interface QuotaDecision {
  /** One for each demand, including what was granted. */
  readonly states: readonly QuotaState[];
  /** The index of the first demand that does not fit; then nothing was granted. Undefined: everything was granted. */
  readonly full: number | undefined;
}

interface Quota {
  held: number;
  counted: CountedSecond[];
}

/**
 * Quotas of one process. Memory is bounded by the running requests, and by 61 sums for each quota used within the last
 * minute.
 */
export class MemoryQuotas {
  readonly #clock: Clock;
  readonly #quotas = new Map<string, Quota>();
  readonly #round = new Round(this.#quotas);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of quotas in memory. */
  get size(): number {
    return this.#quotas.size;
  }

  /** Grants all of the demands or none. */
  take(demands: readonly QuotaDemand[]): QuotaDecision {
    const now = this.#clock.monotonic();
    // A run leaves one quota behind at most, its key's tokens: places that nobody holds are forgotten at its end.
    this.#round.forget((quota) => isIdle(quota, now));
    const states = demands.map((demand) => {
      const quota = this.#read(demand.name, now);
      return judge(demand, quota?.held ?? 0, quota?.counted ?? [], now);
    });
    const full = states.findIndex(({ waitMs }) => waitMs > 0);
    if (full >= 0) {
      return { states, full };
    }
    for (const { name, amount } of demands) {
      this.#open(name).held += amount;
    }
    return {
      states: states.map((state, i) => ({
        ...state,
        used: state.used + (demands[i]?.amount ?? 0),
        resetAfterMs: windowMs, // as the run holds it from now on
      })),
      full: undefined,
    };
  }

  /** Gives back the amount that a run took. The counted amount stays for a minute. */
  give(name: string, amount: number, counted: number): void {
    const quota = this.#open(name);
    quota.held = Math.max(0, quota.held - amount);
    if (counted > 0) {
      add(quota, this.#clock.monotonic(), counted);
    } else if (quota.held === 0 && quota.counted.length === 0) {
      this.#quotas.delete(name);
    }
  }

  #read(name: string, now: number): Quota | undefined {
    const quota = this.#quotas.get(name);
    if (quota !== undefined) {
      dropLapsed(quota, now);
    }
    return quota;
  }

  #open(name: string): Quota {
    let quota = this.#quotas.get(name);
    if (quota === undefined) {
      quota = { held: 0, counted: [] };
      this.#quotas.set(name, quota);
    }
    return quota;
  }
}

function isIdle(quota: Quota, now: number): boolean {
  dropLapsed(quota, now);
  return quota.held === 0 && quota.counted.length === 0;
}

function add(quota: Quota, now: number, amount: number): void {
  const second = Math.floor(now / 1000);
  const last = quota.counted.at(-1);
  if (last?.second === second) {
    quota.counted[quota.counted.length - 1] = { second, amount: last.amount + amount, lastAt: now };
  } else {
    quota.counted.push({ second, amount, lastAt: now });
  }
}

function dropLapsed(quota: Quota, now: number): void {
  while (quota.counted[0] !== undefined && computeLapse(quota.counted[0]) <= now) {
    quota.counted.shift();
  }
}
