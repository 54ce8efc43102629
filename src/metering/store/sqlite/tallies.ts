import type { Charge } from "../../ledger/settlement/charge.ts";
import type { UnseenTally } from "../../thresholds/tally-store.ts";
import { addToTally, foldable, foldInto, mostTokens, sumNames } from "../rollups.ts";
import type { Executor, Runner } from "./executor.ts";

const hourMs = 3_600_000;
/** Tallies that are folded at once: the thread has charges to write, too. */
const foldSize = 200;

const tallyKey = "core_id, hour, account_id, key_id, model";

const addTally = `
  insert into usage_tally (${tallyKey}, ${sumNames.join(", ")}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (${tallyKey}) do update set ${addToTally}`;

const unseen = `
  select core_id as coreId, hour, account_id as accountId, key_id as keyId, model, requests
  from usage_tally where not seen order by hour limit ?`;

const markSeen = `
  update usage_tally set seen = true
  where core_id = ? and hour = ? and account_id = ? and key_id = ? and model = ? and requests = ?`;

const oldTallies = `from usage_tally where ${foldable("?1")} order by hour, ${tallyKey} limit ${foldSize}`;

/** Counts stored charges in the tallies of their hours. In a transaction. */
export function tally(run: Runner, charges: readonly Charge[], coreId: string): void {
  const tallies = new Map<string, { readonly key: readonly (string | number)[]; readonly sums: number[] }>();
  for (const { accountId, keyId, model, inputTokens, outputTokens, cost, shortfall, settledAt } of charges) {
    const key = [Math.floor(settledAt / hourMs), accountId, keyId, model];
    const name = key.join(" ");
    const tokens = [Math.min(inputTokens, mostTokens), Math.min(outputTokens, mostTokens)];
    const parts = [1, ...tokens, Math.floor(cost / 1e6), cost % 1e6, shortfall];
    const before = tallies.get(name);
    if (before === undefined) {
      tallies.set(name, { key, sums: parts });
    } else {
      for (const [at, part] of parts.entries()) {
        before.sums[at] = (before.sums[at] ?? 0) + part;
      }
    }
  }
  for (const { key, sums } of tallies.values()) {
    run.run(addTally, [coreId, ...key, ...sums]);
  }
}

/** Tallies: looked at, and folded once their hours are over. */
export class Tallies {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  unseen(limit: number): Promise<UnseenTally[]> {
    return this.#executor.plain(({ all }) => all<UnseenTally>(unseen, [limit]).map((row) => ({ ...row })));
  }

  markSeen(tallies: readonly UnseenTally[]): Promise<void> {
    return this.#executor.transaction(({ run }) => {
      for (const { coreId, hour, accountId, keyId, model, requests } of tallies) {
        run(markSeen, [coreId, hour, accountId, keyId, model, requests]);
      }
    });
  }

  /** Folds the oldest ones into rollups. Returns how many. */
  fold(before: number): Promise<number> {
    return this.#executor.transaction(({ run }) => {
      run(`with taken as materialized (select * ${oldTallies}) ${foldInto("taken")}`, [before]);
      return run(`delete from usage_tally where (${tallyKey}) in (select ${tallyKey} ${oldTallies})`, [before]);
    });
  }
}
