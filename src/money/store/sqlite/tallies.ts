import { hourMs } from "#lib/time/days.ts";
import type { Charge } from "../../model/charges/charge.ts";
import type { UnseenTally } from "../../model/store/tally.ts";
import { addToTally, foldable, foldInto, sumNames } from "../rollups.ts";
import { addToSpans } from "../spans.ts";
import type { Executor, Runner } from "./executor.ts";
import { add, type Sums, sumsOf } from "./sums.ts";

/** Tallies folded at once: few, because the thread has charges to write, too. */
const foldSize = 50;

const tallyKey = "core_id, hour, account_id, key_id, model";

const addTally = `
  insert into usage_tally (${tallyKey}, ${sumNames.join(", ")}, unbudgeted) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (${tallyKey}) do update set ${addToTally}`;

const unseen = `
  select core_id as coreId, hour, account_id as accountId, key_id as keyId, model, requests, unbudgeted
  from usage_tally where not seen order by hour limit ?`;

const markSeen = `
  update usage_tally set seen = true
  where core_id = ? and hour = ? and account_id = ? and key_id = ? and model = ? and requests = ?`;

/** Ordered like the index of hours, so that nothing is sorted. */
const findOld = `select rowid as row from usage_tally where ${foldable("?1")} order by hour, rowid limit ${foldSize}`;
const oldTallies = "from usage_tally where rowid in (select value from json_each(?1))";

const taken = `with taken as materialized (select * ${oldTallies})`;
const fold = `${taken} ${foldInto("taken")}`;
const foldSpans = `${taken} ${addToSpans("taken")}`;

interface Tally extends Sums {
  readonly key: readonly (string | number)[];
  unbudgeted: boolean;
}

/**
 * Counts stored charges in the tallies of their hours. Call it in a transaction. `forgotten`: slices of budgets that do
 * not exist.
 */
export function tally(
  run: Runner,
  charges: readonly Charge[],
  { coreId, forgotten }: { readonly coreId: string; readonly forgotten: ReadonlySet<string> },
): void {
  const tallies = new Map<string, Tally>();
  for (const charge of charges) {
    const { accountId, keyId, model, settledAt, budgetSliceId } = charge;
    const unbudgeted = budgetSliceId === undefined || forgotten.has(budgetSliceId);
    const key = [Math.floor(settledAt / hourMs), accountId, keyId, model];
    const name = key.join(" ");
    const before = tallies.get(name);
    if (before === undefined) {
      tallies.set(name, { key, sums: sumsOf(charge), unbudgeted });
    } else {
      add(before, charge);
      before.unbudgeted ||= unbudgeted;
    }
  }
  for (const { key, sums, unbudgeted } of tallies.values()) {
    run.run(addTally, [coreId, ...key, ...sums, Number(unbudgeted)]);
  }
}

const toUnseen = (row: UnseenTally): UnseenTally => ({ ...row, unbudgeted: Boolean(row.unbudgeted) });

/** Reads and marks tallies, and folds them once their hours are over. */
export class Tallies {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  unseen(limit: number): Promise<UnseenTally[]> {
    return this.#executor.plain(({ all }) => all<UnseenTally>(unseen, [limit]).map(toUnseen));
  }

  /** A file does not go back while a core has it open: what was counted in a look is there. */
  markSeen(tallies: readonly UnseenTally[]): Promise<void> {
    return this.#executor.transaction(({ run }) => {
      for (const { coreId, hour, accountId, keyId, model, requests } of tallies) {
        run(markSeen, [coreId, hour, accountId, keyId, model, requests]);
      }
    });
  }

  /** Folds the oldest tallies into rollups. Returns how many. */
  fold(before: number): Promise<number> {
    return this.#executor.transaction(({ run, all }) => {
      const old = JSON.stringify(all<{ row: number }>(findOld, [before]).map(({ row }) => row));
      run(fold, [old]);
      run(foldSpans, [old]);
      return run(`delete ${oldTallies}`, [old]);
    });
  }
}
