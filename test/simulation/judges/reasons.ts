import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";
import { cameBefore, justMs } from "./came-before.ts";

/** The part of the requests that may be told something else than what is true in the database at that moment. */
const mostUntrue = 0.001;
/** A charge is under way to the database for no longer, once all works. */
const underWayMs = 3000;
/** The time that a request waits for money that others hold, less what clocks run fast. */
const patienceMs = 1900;

/** A balance that cannot pay so many tokens is spent. */
export const leastTokens = 64;

/**
 * Judges that refusals tell the truth: nothing is told as spent beside twice the least that such a request needs, held by
 * others or not, and nobody is told that money is held before the time to wait is over. Only for a world that works.
 */
export class ReasonJudge {
  readonly #world: World;
  readonly #from: number;
  #untrue = 0;
  #last = "";

  /** Judges requests from now on. */
  constructor(world: World) {
    this.#world = world;
    this.#from = world.traffic.runs.length;
  }

  /** Call it for each request that is refused. */
  refused(run: Run): void {
    if (this.#world.traffic.runs.indexOf(run, this.#from) < 0) {
      return;
    }
    if (run.refusal === "BALANCE_EXHAUSTED") {
      this.#note(run, this.#readBalance(run.accountId), (other) => other.accountId);
    } else if (run.refusal === "BUDGET_EXHAUSTED" && run.budget?.period === "total") {
      this.#note(run, this.#readBudget(run), (other) => other.budget?.id);
    }
  }

  judge(): void {
    const { traffic, history } = this.#world;
    const asked = traffic.runs.slice(this.#from);
    if (this.#untrue > Math.max(1, asked.length * mostUntrue)) {
      history.violation(
        "refusals",
        `${this.#untrue} of ${asked.length} were told that money is spent, as ${this.#last}`,
      );
    }
    const early = asked.find(
      ({ refusal = "", askedAt, answeredAt = askedAt }) => /_HELD$/.test(refusal) && answeredAt - askedAt < patienceMs,
    );
    if (early !== undefined) {
      history.violation("refusals", `${early.requestId} did not wait for money: ${early.refusal}`);
    }
  }

  /** `nameOf`: whose charges spend the same money. */
  #note(run: Run, stored: number, nameOf: (run: Run) => string | undefined): void {
    const least = this.#leastOf(run);
    const left = stored < 2 * least ? stored : stored - this.#underWay(run, nameOf);
    if (left >= 2 * least) {
      this.#untrue++;
      this.#last = `${run.requestId}: ${run.refusal} of ${least} beside ${left}`;
    }
  }

  /**
   * The least with which a request is let in: money for 64 tokens, and for its prompt and one of its answer, at the highest
   * prices that its account's credits may have, and those of today.
   */
  #leastOf({ accountId, model, admitted: { inputTokens, outputTokens } }: Run): number {
    const { input = 0, output = 0 } =
      this.#world.server.tables.get<{ input: number; output: number }>(
        `select max(input) as input, max(output) as output from (
           select price.input, price.output
           from (select price_version_id as of from lot where account_id = ?1 union select max(id) from price_version) lists
           join price on price.model = ?2 and price.version_id = coalesce(
             (select max(version_id) from price one where one.model = ?2 and version_id <= lists.of),
             (select min(version_id) from price one where one.model = ?2 and version_id > lists.of))
           union all select own_price.input, own_price.output from own_price
           join own_prices on own_prices.id = own_prices_id where account_id = ?1 and model = ?2)`,
        ...[accountId, model],
      ) ?? {};
    const worst = inputTokens * input + outputTokens * output;
    const short = Math.max(leastTokens * Math.max(input, output), inputTokens * input + output);
    return outputTokens === 0 ? worst : Math.min(worst, short);
  }

  /** What an account has, leased or not. Nothing while it owes something. */
  #readBalance(accountId: string): number {
    const { server, trueTime } = this.#world;
    const found = server.tables.get<{ money: number }>(
      `select coalesce(sum(granted - lot.spent - refunded - expired - coalesce((
           select sum(slice.spent) from slice where slice.lot_id = lot.id and open), 0)), 0) as money
       from lot join account on account.id = account_id
       where account_id = ?1 and debt = 0 and ${cameBefore("?2")} and (expires_at is null or expires_at > ?3)`,
      ...[accountId, trueTime - justMs, trueTime + justMs],
    );
    return found?.money ?? 0;
  }

  /** What the window of a budget has left, leased or not. */
  #readBudget({ budget }: Run): number {
    const found = this.#world.server.tables.get<{ spent: number }>(
      `select budget.spent + coalesce((select sum(slice.spent) from budget_slice slice
         where slice.budget_id = budget.id and slice.window_name = budget.window_name and open), 0) as spent
       from budget where id = ? and leased_under = ?`,
      ...[budget?.id ?? "", budget?.limit ?? 0],
    );
    return found === undefined ? 0 : (budget?.limit ?? 0) - found.spent;
  }

  /** The most that charges cost that the database may not have yet, of requests that began at any time. */
  #underWay(run: Run, nameOf: (run: Run) => string | undefined): number {
    const { traffic, timeline } = this.#world;
    const since = timeline.now - underWayMs;
    return traffic.runs
      .filter((other) => nameOf(other) === nameOf(run))
      .filter(({ state, settledAt = 0 }) => state === "settling" || settledAt >= since)
      .reduce((sum, { settled, terms, told }) => {
        const { inputTokens = 0, outputTokens = 0 } = settled?.tokens ?? {};
        return sum + (told ?? inputTokens * terms.input + outputTokens * terms.output);
      }, 0);
  }
}
