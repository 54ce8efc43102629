import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";

/** Milliseconds that count, at most: a minute on a slow clock, and the second that a count of tokens lapses with. */
const windowMs = 61_100;
/** The least that an account may send a minute, and run at once, where its key has no limit. */
const leastOfAccount = 2000;

/** Amounts at times, of which parts are summed up. */
class Amounts {
  readonly #times: number[] = [];
  readonly #sums: number[] = [0];

  constructor(amounts: readonly { readonly at: number; readonly amount: number }[]) {
    for (const { at, amount } of amounts.toSorted((a, b) => a.at - b.at)) {
      this.#times.push(at);
      this.#sums.push((this.#sums.at(-1) ?? 0) + amount);
    }
  }

  /** The sum up to a time. */
  until(time: number): number {
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#times[middle] ?? 0) <= time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return this.#sums[low] ?? 0;
  }
}

/** The limits that requests of one key, or of one account, take parts of on a core. */
class Taken {
  readonly #entered: Amounts;
  readonly #left: Amounts;
  readonly #held: Amounts;
  readonly #returned: Amounts;
  readonly #counted: Amounts;

  constructor(runs: readonly Run[]) {
    const entered = runs.filter(({ enteredAt }) => enteredAt !== undefined);
    const left = entered.filter((run) => run.left !== undefined);
    const at = (run: Run) => run.left?.at ?? 0;
    this.#entered = new Amounts(entered.map(({ enteredAt = 0 }) => ({ at: enteredAt, amount: 1 })));
    this.#left = new Amounts(left.map((run) => ({ at: at(run), amount: 1 })));
    this.#held = new Amounts(entered.map(({ enteredAt = 0, tokenBound }) => ({ at: enteredAt, amount: tokenBound })));
    this.#returned = new Amounts(left.map((run) => ({ at: at(run), amount: run.tokenBound })));
    this.#counted = new Amounts(left.map((run) => ({ at: at(run), amount: run.left?.tokens ?? 0 })));
  }

  requests = (at: number): number => this.#entered.until(at) - this.#entered.until(at - windowMs);
  places = (at: number): number => this.#entered.until(at) - this.#left.until(at - 1);
  tokens = (at: number): number =>
    this.#held.until(at) - this.#returned.until(at - 1) + this.#counted.until(at) - this.#counted.until(at - windowMs);
}

/**
 * Judges that no request is refused for a limit a minute, or at once, that its key and its account do not meet. For worlds
 * whose keys are not rotated: keys that follow each other share their limits.
 */
export function judgeRateRefusals({ traffic, customers, keys: rotated, history }: World): void {
  if (rotated !== undefined) {
    return;
  }
  const limits = new Map(customers.flatMap(({ callers }) => callers.map((caller) => [caller.keyId, caller] as const)));
  const nameOf = ({ process, keyId, accountId }: Run) => `${process.name} ${keyId || accountId}`;
  const ofAccount = ({ process, accountId }: Run) => `${process.name} ${accountId}`;
  const taken = (by: (run: Run) => string) =>
    new Map([...Map.groupBy(traffic.runs, by)].map(([name, runs]) => [name, new Taken(runs)]));
  const [keys, accounts] = [taken(nameOf), taken(ofAccount)];
  for (const run of traffic.runs) {
    const { refusal = "", answeredAt: at = 0, tokenBound, process, keyId } = run;
    const [key, account, limit] = [keys.get(nameOf(run)), accounts.get(ofAccount(run)), limits.get(keyId)];
    const hasSlept = process.wakesAt >= at - windowMs;
    const isOther = run.enteredAt !== undefined || !/^(RATE|FREE_TIER)_LIMITED$/.test(refusal);
    if (isOther || hasSlept || !key || !account || !limit) {
      continue;
    }
    const { rpm = leastOfAccount, maxInFlight = leastOfAccount, tokensPerMinute = Number.POSITIVE_INFINITY } = limit;
    const isTrue =
      key.requests(at) >= rpm ||
      key.places(at) >= maxInFlight ||
      account.places(at) >= Math.min(rpm, leastOfAccount) ||
      (key.tokens(at) > 0 && key.tokens(at) + tokenBound > tokensPerMinute);
    if (!isTrue) {
      const beside = `${key.requests(at)} requests, ${key.places(at)} at once and ${key.tokens(at)} tokens`;
      history.violation("requests a minute", `${run.requestId} of ${tokenBound} tokens was refused beside ${beside}`);
    }
  }
}
