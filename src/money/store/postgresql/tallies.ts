import type { UnseenTally } from "../../model/store/tally.ts";
import { foldable, foldInto } from "../rollups.ts";
import { addToSpans, isBuilt, nextRollups } from "../spans.ts";
import type { Executor, Statement } from "./executor.ts";

/** Tallies folded at once. */
const mostFolded = 1000;

/** Rollups whose spans are built at once. */
const mostBuilt = 500;

/**
 * $1 the hour before which tallies are folded, $2 the most. A tally that is being written is left for the next time.
 * While spans are built, the builder and the folding cores wait for each other.
 */
const foldSql: Statement = {
  name: "fold tallies",
  text: `
  with taken as (
    delete from usage_tally where ctid = any(array(
      select ctid from usage_tally where ${foldable("$1")} limit $2 for update skip locked))
    returning *),
  folded as (${foldInto("taken")}),
  build as (select * from usage_span_build for share),
  built as (select * from taken where ${isBuilt("taken", "hour", "build")}),
  spanned as (${addToSpans("built")})
  select count(*)::int as folded from taken`,
};

const buildingSql: Statement = {
  name: "spans are being built",
  text: "select 1 from usage_span_build",
};

const lockBuildSql: Statement = {
  name: "lock the build of spans",
  text: "select account_id, slot, key_id, model from usage_span_build for update",
};

/** $1 to $4 the last rollup whose spans are built, $5 the most further ones to build. */
const buildSql: Statement = {
  name: "build spans",
  text: `
  with taken as materialized (${nextRollups(["$1::uuid", "$2::int", "$3::text", "$4::text"], "$5")}),
  spanned as (${addToSpans("taken")})
  update usage_span_build set account_id = last.account_id, slot = last.hour, key_id = last.key_id, model = last.model
  from (select * from taken order by account_id desc, hour desc, key_id desc, model desc limit 1) last
  returning 1 as moved`,
};

const endBuildSql: Statement = { name: "spans are built", text: "delete from usage_span_build" };

/** $1 the most. */
const unseenSql: Statement = {
  name: "unseen tallies",
  text: `
  select core_id as "coreId", hour, account_id as "accountId", key_id as "keyId", model, requests, unbudgeted
  from usage_tally where not seen order by hour limit $1`,
};

/**
 * $1 to $5 the key columns of tallies, $6 their requests when they were read. Waits for no lock, so it cannot deadlock
 * with a settlement: a tally that is being written is unseen again in a moment.
 */
const markSeenSql: Statement = {
  name: "mark tallies as seen",
  text: `
  with mine as (
    select usage_tally.ctid as place from usage_tally
    join unnest($1::uuid[], $2::int[], $3::uuid[], $4::text[], $5::text[], $6::bigint[])
      as read(core_id, hour, account_id, key_id, model, requests)
      using (core_id, hour, account_id, key_id, model, requests)
    for update of usage_tally skip locked)
  update usage_tally set seen = true from mine where usage_tally.ctid = mine.place`,
};

/** Reads and marks tallies, and folds them once their hours are over. */
export class Tallies {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  async unseen(limit: number): Promise<UnseenTally[]> {
    const rows = await this.#executor.query<Omit<UnseenTally, "requests"> & { requests: string }>(unseenSql, [limit]);
    return rows.map((row) => ({ ...row, requests: Number(row.requests) }));
  }

  async markSeen(tallies: readonly UnseenTally[]): Promise<void> {
    const column = <Name extends keyof UnseenTally>(name: Name) => tallies.map((tally) => tally[name]);
    await this.#executor.query(markSeenSql, [
      ...[column("coreId"), column("hour"), column("accountId"), column("keyId"), column("model"), column("requests")],
    ]);
  }

  /** Folds some tallies into rollups. Returns how many. */
  async fold(before: number): Promise<number> {
    const [row] = await this.#executor.query<{ folded: number }>(foldSql, [before, mostFolded]);
    return row?.folded ?? 0;
  }

  /** Builds the spans of the next rollups without spans. Returns whether more are left. */
  async buildSpans(): Promise<boolean> {
    if ((await this.#executor.query(buildingSql, [])).length === 0) {
      return false;
    }
    return this.#executor.transaction(async (query) => {
      const [after] = await query<BuildRow>(lockBuildSql, []);
      if (after === undefined) {
        return false;
      }
      const { account_id, slot, key_id, model } = after;
      const moved = await query(buildSql, [account_id, slot, key_id, model, mostBuilt]);
      if (moved.length === 0) {
        await query(endBuildSql, []);
      }
      return moved.length > 0;
    });
  }
}

interface BuildRow {
  readonly account_id: string;
  readonly slot: number;
  readonly key_id: string;
  readonly model: string;
}
