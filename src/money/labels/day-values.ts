import { dayMs } from "#lib/time/days.ts";

/** The most values that a core remembers, of all accounts: about 100 MiB of the longest. Further ones are not kept. */
const mostRemembered = 250_000;

/** A label's value that an account has used. */
export interface UsedValue {
  readonly accountId: string;
  readonly name: string;
  readonly value: string;
}

/** The values that labels have had today, in UTC, and whether there may be another one. */
export class DayValues {
  readonly #most: number;
  /** By account and label. */
  readonly #values = new Map<string, Set<string>>();
  #day = 0;
  #remembered = 0;

  /** `most`: the values of a label, in a day and an account. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether a value is kept: it has been used today, or there is room for it. `now`: milliseconds since the epoch. */
  take(used: UsedValue, now: number): boolean {
    this.#begin(now);
    const known = this.#values.get(keyOf(used));
    if (known?.has(used.value)) {
      return true;
    }
    if ((known?.size ?? 0) >= this.#most || this.#remembered >= mostRemembered) {
      return false;
    }
    this.#add(used, known);
    return true;
  }

  /** Notes values that other cores have kept, or this one before it was started again. */
  learn(values: readonly UsedValue[], now: number): void {
    this.#begin(now);
    for (const used of values) {
      const known = this.#values.get(keyOf(used));
      if (!known?.has(used.value) && this.#remembered < mostRemembered) {
        this.#add(used, known);
      }
    }
  }

  #add(used: UsedValue, known: Set<string> | undefined): void {
    this.#remembered++;
    if (known === undefined) {
      this.#values.set(keyOf(used), new Set([used.value]));
    } else {
      known.add(used.value);
    }
  }

  /** Forgets the values of the day before. */
  #begin(now: number): void {
    const day = Math.floor(now / dayMs);
    if (day !== this.#day) {
      this.#day = day;
      this.#values.clear();
      this.#remembered = 0;
    }
  }
}

const keyOf = ({ accountId, name }: UsedValue) => `${accountId} ${name}`;
