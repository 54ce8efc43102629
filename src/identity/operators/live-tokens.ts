import { toDigest } from "#lib/ids/checked-secret.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Operator } from "#src/storage/entities/operators/operator.ts";
import { isOperatorToken } from "./operator-token.ts";

/** How old an answer may be: a second less than the time within which a revoked token stops working everywhere. */
const freshMs = 9_000;
/** From this age on the operators are read anew while the old answer still serves. */
const renewMs = 4_000;
/** The least time between two reads for unknown tokens: another core may just have made one. */
const unknownMs = 250;

/** Recognizes operators' tokens by their digests. All live operators are in memory, because they are few. */
export class LiveTokens {
  readonly #read: () => Promise<readonly Operator[]>;
  readonly #clock: Pick<Clock, "monotonic">;
  #live: ReadonlyMap<string, Operator> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** `read` finds all operators that are not revoked. */
  constructor(read: () => Promise<readonly Operator[]>, clock: Pick<Clock, "monotonic">) {
    this.#read = read;
    this.#clock = clock;
  }

  /**
   * The operator of a token, by an answer of the store that is at most nine seconds old. Rejects when the store cannot
   * be asked.
   */
  async find(token: string): Promise<Operator | undefined> {
    if (!isOperatorToken(token)) {
      return undefined;
    }
    const digest = toDigest(token).toString("latin1");
    const age = this.#clock.monotonic() - this.#readAt;
    const known = this.#live.get(digest);
    if (known !== undefined && age < freshMs) {
      if (age >= renewMs) {
        this.#renew().catch(() => {}); // the next call asks again, and fails without an answer in time
      }
      return known;
    }
    if (known !== undefined || age >= unknownMs) {
      await this.#renew();
    }
    return this.#live.get(digest);
  }

  /** Forgets the answer: this core has changed an operator. A read under way may be older than the change. */
  forget(): void {
    this.#readAt = Number.NEGATIVE_INFINITY;
    this.#reading = undefined;
  }

  #renew(): Promise<void> {
    if (this.#reading !== undefined) {
      return this.#reading;
    }
    const startedAt = this.#clock.monotonic();
    const reading: Promise<void> = this.#read()
      .then((operators) => {
        if (this.#reading !== reading) {
          return this.#renew(); // whoever waits may not be told what was known before the change
        }
        this.#live = new Map(operators.map((operator) => [Buffer.from(operator.digest).toString("latin1"), operator]));
        this.#readAt = startedAt;
        return;
      })
      .finally(() => {
        if (this.#reading === reading) {
          this.#reading = undefined;
        }
      });
    this.#reading = reading;
    return reading;
  }
}
