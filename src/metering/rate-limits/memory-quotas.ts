import type { Clock } from "../../../lib/time/clock.ts";
import { type CountedSecond, computeLapse, judge, type QuotaDemand, type QuotaState, windowMs } from "./quota.ts";

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
  /** In the order of their last use, so that idle quotas are at the front. */
  readonly #quotas = new Map<string, Quota>();

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
    this.#evict(now);
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
    const quota = this.#quotas.get(name) ?? { held: 0, counted: [] };
    this.#quotas.delete(name);
    this.#quotas.set(name, quota);
    return quota;
  }

  /** Forgets idle quotas: two at a time, because a run adds about as many. A quota that is held goes to the back. */
  #evict(now: number): void {
    for (let i = 0; i < 2; i++) {
      const [name, quota] = this.#quotas.entries().next().value ?? [];
      if (name === undefined || quota === undefined) {
        return;
      }
      dropLapsed(quota, now);
      if (quota.held > 0) {
        this.#open(name);
      } else if (quota.counted.length === 0) {
        this.#quotas.delete(name);
      } else {
        return;
      }
    }
  }
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
