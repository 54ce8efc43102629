import { lookAgainMs } from "#src/money/ledger/refill/intervals.ts";
import { withFreeMoney } from "#src/storage/entities/metering/lot-conditions.ts";
import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";
import { cameBefore, justMs } from "./came-before.ts";
import { MoneyAtHome } from "./money-at-home.ts";

/** Milliseconds. Limits count the last minute, and machines' clocks run up to a thousandth too fast. */
const windowMs = 59_900;

/**
 * Returns the judge of admitted requests whose account has no money: no lot has anything left, leased or not. Money that is spent but
 * not stored yet is still in the lots, so that no request is judged wrongly. Like the SpendingJudge, only for worlds
 * whose database loses nothing.
 */
export function judgeAdmissions(world: World): (run: Run) => void {
  const { server, history } = world;
  return ({ requestId, accountId, machine }) => {
    const [found] = server.tables.all<{ left: number }>(
      `select (select coalesce(sum(granted - spent - refunded - expired), 0) from lot where account_id = ?1)
         - (select coalesce(sum(spent), 0) from slice where account_id = ?1 and open) as left
       where not exists (select 1 from lot indexed by lot_spending_lasting
           where account_id = ?1 and expires_at is null and ${withFreeMoney})
         and not exists (select 1 from lot indexed by lot_spending_expiring
           where account_id = ?1 and expires_at is not null and ${withFreeMoney})`,
      accountId,
    );
    if (found !== undefined && found.left <= 0 && !world.wentBack) {
      history.violation("admissions", `${requestId} on ${machine} was let in beside nothing`);
    }
  };
}

/** Judges that no key has more requests or tokens in any minute than its limits admit. Each core counts separately. */
export function judgeRates({ traffic, customers, history }: World): void {
  const limits = new Map(customers.flatMap(({ callers }) => callers.map((caller) => [caller.keyId, caller] as const)));
  const byKey = Map.groupBy(traffic.runs, ({ process, keyId, accountId }) => `${process.name} ${keyId || accountId}`);
  for (const [name, runs] of byKey) {
    const { rpm = 3000, tokensPerMinute } = limits.get(runs[0]?.keyId ?? "") ?? {};
    const entered = runs.flatMap(({ enteredAt }) => (enteredAt === undefined ? [] : [{ at: enteredAt, amount: 1 }]));
    const most = Math.max(...sums(entered).map(({ sum }) => sum), 0);
    if (most > rpm) {
      history.violation("requests a minute", `${name} had ${most} requests in a minute instead of ${rpm}`);
    }
    const left = runs.flatMap(({ left: one, tokenBound }) =>
      one === undefined || one.tokens === 0 ? [] : [{ at: one.at, amount: Math.min(one.tokens, tokenBound) }],
    );
    const passed = sums(left).find(
      ({ sum, count }) => count > 1 && sum > (tokensPerMinute ?? Number.POSITIVE_INFINITY),
    );
    if (passed !== undefined) {
      history.violation(
        "tokens a minute",
        `${name} had ${passed.sum} tokens in a minute instead of ${tokensPerMinute}`,
      );
    }
  }
}

interface Amount {
  readonly at: number;
  readonly amount: number;
}

/** The sums of the windows that end with each amount. */
function sums(amounts: readonly Amount[]): { readonly sum: number; readonly count: number }[] {
  const sorted = amounts.toSorted((a, b) => a.at - b.at);
  let [first, sum] = [0, 0];
  return sorted.map(({ at, amount }, last) => {
    sum += amount;
    for (let oldest = sorted[first]; oldest !== undefined && oldest.at <= at - windowMs; oldest = sorted[first]) {
      sum -= oldest.amount;
      first++;
    }
    return { sum, count: last - first + 1 };
  });
}

/** The part of the requests that may be refused although there is money for two of them. */
const mostWrongly = 0.001;

/** Milliseconds within which a core that needs money has looked for it, on a slow network, too. */
const foundMs = lookAgainMs + 50;

/** Milliseconds that nobody waits beside free money. */
const longMs = 1000;

/**
 * Counts requests that are refused for lack of money, or let in only after a second, while unleased money would pay for two of them. Two cores that
 * lack money return it in turns, and each time it is unleased for a moment: it counts only when it has been for longer
 * than one search takes. A refund keeps the account's money unleased until there is enough, as a change of its credit line does;
 * requests in that time are not counted.
 */
export class RefusalJudge {
  readonly #world: World;
  readonly #atHome: MoneyAtHome;
  readonly #from: number;
  readonly #began: number;
  #wrongly = 0;
  #last = "";

  /** Judges from now on. */
  constructor(world: World) {
    this.#world = world;
    this.#atHome = new MoneyAtHome(world.server, () => world.timeline.now);
    this.#from = world.traffic.runs.length;
    this.#began = world.timeline.now;
  }

  /** Call it for each request that is refused. */
  refused(run: Run, worst: number): void {
    if (/^BALANCE_/.test(run.refusal ?? "")) {
      this.#look(run, worst, foundMs);
    }
  }

  /** Call it for each request that is let in. One with a budget may have waited for that. */
  admitted(run: Run, worst: number): void {
    const waitedMs = (run.answeredAt ?? 0) - (run.enteredAt ?? 0);
    if (run.budget === undefined && waitedMs >= longMs) {
      this.#look(run, worst, waitedMs);
    }
  }

  #look(run: Run, worst: number, sinceMs: number): void {
    const { server, trueTime, operators, terms } = this.#world;
    if (
      run.askedAt < this.#began ||
      operators.refunds(run.accountId, sinceMs) ||
      terms?.setsLine(run.accountId, sinceMs)
    ) {
      return;
    }
    const lots = {
      sql: `select id from lot where account_id = ?1 and ${cameBefore("?2")} and (expires_at is null or expires_at > ?3)`,
      values: [run.accountId, trueTime - justMs, trueTime + justMs],
    };
    const [found] = server.tables.all<{ free: number; debt: number }>(
      `select debt, (select coalesce(sum(granted - spent - leased - refunded - expired), 0) from lot
         where id in (${lots.sql})) as free
       from account where id = ?1`,
      ...lots.values,
    );
    if (found === undefined || found.debt !== 0 || found.free < 2 * worst) {
      return;
    }
    const free = found.free - this.#atHome.riseSince(sinceMs, lots);
    if (free >= 2 * worst) {
      this.#wrongly++;
      this.#last = `${run.requestId}: ${run.refusal ?? "let in late"} of ${worst} beside ${free}`;
    }
  }

  judge(): void {
    const { traffic, history } = this.#world;
    this.#atHome.end();
    const requests = traffic.runs.length - this.#from;
    if (this.#wrongly > Math.max(1, requests * mostWrongly)) {
      history.violation(
        "wrong refusals",
        `${this.#wrongly} of ${requests} requests were refused or kept waiting beside money, as ${this.#last}`,
      );
    }
  }
}
