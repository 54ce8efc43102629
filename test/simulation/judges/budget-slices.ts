import type { RunningHold } from "#src/money/ledger/hold.ts";
import type { BudgetPart } from "#src/money/model/core-ledger.ts";
import { hasCompared, type Life } from "../cores/machine.ts";
import type { World } from "../world.ts";

/** What slices have left, by their ids. */
type Left = Map<string, number>;

/**
 * Judges what cores have in memory of keys' budgets. At a quiet moment that is what their open slices have left, under the
 * limit that their requests knew last, and nothing is held of it. While requests run, no core believes in more than its slice
 * has left: it counts what it spends before the database does.
 */
export class BudgetSliceJudge {
  readonly #world: World;
  /** Whether a copy of a core's disk ran: it may charge what that core ran. */
  #hasTwins = false;

  constructor(world: World) {
    this.#world = world;
  }

  /**
   * Judges cores that serve. A core learns within seconds that its database went back, and with its next comparison that an
   * engine passed its cap.
   */
  look(): void {
    const { machines, traffic, history, wentBack } = this.#world;
    this.#hasTwins ||= machines.some(({ name }) => name.startsWith("twin "));
    if (wentBack || this.#hasTwins) {
      return;
    }
    for (const { life, name } of machines) {
      if (life === undefined || !life.money.ledger.state().admits) {
        continue;
      }
      const left = this.#readLeft(life);
      for (const { budgetId, sliceId, available } of life.money.ledger.budgets()) {
        const most = left.get(sliceId) ?? 0;
        if (available > most && !traffic.runs.some(({ budget, lies }) => lies && budget?.id === budgetId)) {
          history.violation("wallets", `${name} believes in ${available} of budget ${budgetId}, and has ${most}`);
        }
      }
    }
  }

  /** Judges, at a quiet moment, all that cores have. */
  judge(): void {
    const { machines, history, timeline } = this.#world;
    for (const { life, name } of machines) {
      if (life === undefined || !hasCompared(life, timeline.now)) {
        continue;
      }
      const left = this.#readLeft(life);
      for (const part of life.money.ledger.budgets()) {
        const stored = left.get(part.sliceId) ?? 0;
        left.delete(part.sliceId);
        if (part.available !== stored || !part.idle || !this.#hasLimit(life, part)) {
          const { budgetId, available, idle, limit } = part;
          const told = JSON.stringify({ available, idle, limit });
          history.violation("wallets", `${name} has ${told} of budget ${budgetId}, and ${stored} in its slice`);
        }
      }
      for (const [sliceId, unspent] of left) {
        history.violation("wallets", `${name} does not know slice ${sliceId} of a budget, which has ${unspent}`);
      }
    }
  }

  #readLeft({ coreId }: Life): Left {
    const slices = this.#world.server.tables.all<{ id: string; unspent: number }>(
      "select id, max(0, granted - spent) as unspent from budget_slice where core_id = ? and open",
      coreId,
    );
    return new Map(slices.map(({ id, unspent }) => [id, unspent]));
  }

  /**
   * Whether a part was leased under a limit that requests of this core knew last, which may have come together. Those let in on
   * another window of the budget, as while a clock was a day ahead, have another part.
   */
  #hasLimit({ process }: Life, part: BudgetPart): boolean {
    const { budgetId, limit } = part;
    const mine = this.#world.traffic.runs.filter((run) => run.process === process && run.budget?.id === budgetId);
    const last = mine.findLast(({ hold }) => (hold as RunningHold | undefined)?.budget === part);
    const since = last?.askedAt ?? Number.POSITIVE_INFINITY;
    return last === undefined || mine.some((run) => run.budget?.limit === limit && (run.answeredAt ?? since) >= since);
  }
}
