import type { History } from "#src/storage/postgresql/history.ts";
import type { CountedWindow, UnseenTally } from "../../model/store/tally.ts";
import { foldable, foldInto } from "../rollups.ts";
import { addToSpans } from "../spans.ts";
import type { Executor, Statement } from "./executor.ts";

/** Tallies folded at once. */
const mostFolded = 1000;

/** $1 the hour before which tallies are folded, $2 the most. A tally that is being written is left for the next time. */
const foldSql: Statement = {
  name: "fold tallies",
  text: `
  with taken as (
    delete from usage_tally where ctid = any(array(
      select ctid from usage_tally where ${foldable("$1")} limit $2 for update skip locked))
    returning *),
  folded as (${foldInto("taken")}),
  spanned as (${addToSpans("taken")})
  select count(*)::int as folded from taken`,
};

/** $1 the most. */
const unseenSql: Statement = {
  name: "unseen tallies",
  text: `
  select core_id as "coreId", hour, account_id as "accountId", key_id as "keyId", model, requests, unbudgeted
  from usage_tally where not seen order by hour limit $1`,
};

/**
 * $1 to $5 the key columns of tallies, $6 their requests when they were read; $7 budgets, $8 their windows, $9 the sums that were
 * counted there. Waits for no lock, so it cannot deadlock with a settlement: a tally that is being written is unseen again in a
 * moment.
 */
const markSeenSql: Statement = {
  name: "mark tallies as seen",
  text: `
  with mine as (
    select usage_tally.ctid as place from usage_tally
    join unnest($1::uuid[], $2::int[], $3::uuid[], $4::text[], $5::text[], $6::bigint[])
      as read(core_id, hour, account_id, key_id, model, requests)
      using (core_id, hour, account_id, key_id, model, requests)
    where not exists (
      select from budget join unnest($7::uuid[], $8::text[], $9::bigint[]) as counted(id, window_name, outside)
        using (id, window_name)
      where budget.account_id = usage_tally.account_id and spent_outside_slices <> outside)
    for update of usage_tally skip locked)
  update usage_tally set seen = true from mine where usage_tally.ctid = mine.place`,
};

/** Reads and marks tallies, and folds them once their hours are over. */
export class Tallies {
  readonly #executor: Executor;
  readonly #history: Pick<History, "turns"> | undefined;

  /** `history` undefined: nobody can tell whether the database changes hands. */
  constructor(executor: Executor, history: Pick<History, "turns"> | undefined) {
    this.#executor = executor;
    this.#history = history;
  }

  async unseen(limit: number): Promise<UnseenTally[]> {
    const rows = await this.#executor.query<Omit<UnseenTally, "requests"> & { requests: string }>(unseenSql, [limit]);
    return rows.map((row) => ({ ...row, requests: Number(row.requests) }));
  }

  async markSeen(
    tallies: readonly UnseenTally[],
    counted: readonly CountedWindow[] = [],
    turns = this.#history?.turns,
  ): Promise<void> {
    const column = <Name extends keyof UnseenTally>(name: Name) => tallies.map((tally) => tally[name]);
    const values = [
      ...[column("coreId"), column("hour"), column("accountId"), column("keyId"), column("model"), column("requests")],
      ...[counted.map(({ budgetId }) => budgetId), counted.map(({ windowName }) => windowName)],
      counted.map(({ outside }) => String(outside)),
    ];
    // Asked in a transaction: its connection, made anew after a failover, tells of it.
    await this.#executor.transaction(async (query) => {
      if (this.#history?.turns === turns) {
        await query(markSeenSql, values);
      }
    });
  }

  /** Folds some tallies into rollups. Returns how many. */
  async fold(before: number): Promise<number> {
    const [row] = await this.#executor.query<{ folded: number }>(foldSql, [before, mostFolded]);
    return row?.folded ?? 0;
  }
}
