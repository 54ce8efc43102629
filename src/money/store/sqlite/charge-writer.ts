import { dayMs } from "#lib/time/days.ts";
import type { Charge } from "../../model/charges/charge.ts";
import type { Run } from "../../model/charges/run.ts";
import type { SettleOutcome, StoredCharge } from "../../model/store/charge.ts";
import { keptFromDay } from "../kept-from.ts";
import { lineColumns, listNames, usageColumns } from "../usage-columns.ts";
import type { Epochs } from "./epochs.ts";
import type { Executor, Runner } from "./executor.ts";
import { sumLabels } from "./label-sums.ts";
import { tally } from "./tallies.ts";
import { spendBudgets } from "./wallet/budgets.ts";

/** A value too big, a broken constraint, a type that does not fit. https://www.sqlite.org/rescode.html */
const violations: ReadonlySet<number> = new Set([18, 19, 20]);

const marks = (columns: readonly unknown[]) => columns.map(() => "?").join(", ");

const insertUsageSql = `
  insert into usage (${listNames(usageColumns)}) values (${marks(usageColumns)}) on conflict do nothing`;

const insertLine = `
  insert into usage_line (request_id, run_id, seq, ${listNames(lineColumns)}) values (?, ?, ?, ${marks(lineColumns)})`;

const insertEvent = "insert into usage_event (request_id, run_id, at) values (?, ?, ?) on conflict do nothing";

/** ?1 the cost, ?2 slice, ?3 epoch. A slice without room for it is fenced like one that is not this core's. */
const spend = "update slice set spent = spent + ?1 where id = ?2 and open and epoch = ?3 and spent + ?1 <= granted";

/** True when an error means that a charge can never be stored. */
export function isViolation(error: unknown): boolean {
  const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff; // the primary code, without the extended part
  return violations.has(code);
}

/** Stores charges, once each, and looks them up. */
export class ChargeWriter {
  readonly #executor: Executor;
  readonly #core: Epochs;
  readonly #usageEvents: boolean;

  /** `usageEvents`: stored charges are noted for the receiver of usage events. */
  constructor(executor: Executor, core: Epochs, usageEvents: boolean) {
    this.#executor = executor;
    this.#core = core;
    this.#usageEvents = usageEvents;
  }

  settle(charges: readonly Charge[]): Promise<SettleOutcome[]> {
    return this.#executor.transaction((run) => {
      const keptFrom = Number(run.get<{ day: number }>(`select ${keptFromDay} as day`, [])?.day) * dayMs;
      const outcomes = charges.map((charge): SettleOutcome => {
        if (charge.settledAt < keptFrom) {
          return isStored(run, charge) ? "repeated" : "fenced"; // its receipt would leave the books and be nowhere
        }
        return insertUsage(run, charge) ? "stored" : "repeated";
      });
      const stored = charges.filter((_, at) => outcomes[at] === "stored");
      const lost = this.#spend(run, stored);
      for (const [at, charge] of charges.entries()) {
        if (outcomes[at] !== "stored") {
          continue;
        }
        if (lost.size > 0 && charge.lines.some((line) => lost.has(line.sliceId))) {
          this.#undo(run, charge, lost);
          outcomes[at] = "fenced";
        } else {
          insertLines(run, charge);
        }
      }
      const lasting = charges.filter((_, at) => outcomes[at] === "stored");
      const forgotten = spendBudgets(run, lasting);
      tally(run, lasting, { coreId: this.#core.coreId, forgotten });
      sumLabels(run, lasting, this.#core.coreId);
      if (this.#usageEvents) {
        for (const { requestId, runId, settledAt } of lasting) {
          run.run(insertEvent, [requestId, runId, settledAt]);
        }
      }
      return outcomes;
    });
  }

  /** Spends the cost of charges, with one statement for each slice. Returns the slices that could not pay. */
  #spend(run: Runner, charges: readonly Charge[]): Set<string> {
    const costs = new Map<string, bigint>();
    for (const { lines } of charges) {
      for (const { sliceId, cost } of lines) {
        costs.set(sliceId, (costs.get(sliceId) ?? 0n) + BigInt(cost));
      }
    }
    const lost = new Set<string>();
    for (const [sliceId, cost] of costs) {
      if (run.run(spend, [cost, sliceId, this.#core.epoch]) === 0) {
        lost.add(sliceId);
      }
    }
    return lost;
  }

  /** Takes back the entries of a charge that turned out to be fenced; this almost never happens. */
  #undo(run: Runner, { requestId, runId, lines }: Charge, lost: ReadonlySet<string>): void {
    run.run("delete from usage where request_id = ? and run_id = ?", [requestId, runId]);
    for (const { sliceId, cost } of lines) {
      if (!lost.has(sliceId)) {
        run.run(spend, [-cost, sliceId, this.#core.epoch]);
      }
    }
  }

  settled(runs: readonly Run[]): Promise<Map<string, StoredCharge>> {
    return this.#executor.plain(({ get }) => {
      const sql = `select input_tokens as inputTokens, output_tokens as outputTokens, cost, status from usage
        where request_id = ? and run_id = ?`;
      const charges = new Map<string, StoredCharge>();
      for (const run of runs) {
        const stored = get<StoredCharge>(sql, [run.requestId, run.runId]);
        if (stored !== undefined) {
          charges.set(run.runId, { ...stored });
        }
      }
      return charges;
    });
  }

  isCharged(accountId: string, requestId: string): Promise<boolean> {
    return this.#executor.plain(({ get }) => get(isChargedSql, [requestId, accountId]) !== undefined);
  }
}

/** The sign keeps SQLite, which has no statistics, from reading all receipts of the account, which may be millions. */
export const isChargedSql = "select 1 from usage where request_id = ? and +account_id = ? limit 1";

function isStored(run: Runner, { requestId, runId }: Charge): boolean {
  return run.get("select 1 from usage where request_id = ? and run_id = ?", [requestId, runId]) !== undefined;
}

/** Inserts a receipt. Returns whether there was none before. */
function insertUsage(run: Runner, charge: Charge): boolean {
  const values = usageColumns.map(({ read }) => read(charge));
  return run.run(insertUsageSql, values) > 0;
}

/** Inserts the lines of a receipt, and adds its shortfall to the debt. */
function insertLines(run: Runner, { requestId, runId, accountId, shortfall, lines }: Charge): void {
  for (const [seq, line] of lines.entries()) {
    run.run(insertLine, [requestId, runId, seq, ...lineColumns.map(({ read }) => read(line))]);
  }
  if (shortfall > 0) {
    run.run("update account set debt = debt + ? where id = ?", [shortfall, accountId]);
  }
}
