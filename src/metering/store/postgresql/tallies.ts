import { foldInto } from "../rollups.ts";
import type { Executor, Statement } from "./executor.ts";

/** Tallies that are folded at once. */
const mostFolded = 1000;

/** $1 the hour before which tallies are folded, $2 how many at most. One that is being written is left for the next time. */
const foldSql: Statement = {
  name: "fold tallies",
  text: `
  with taken as (
    delete from usage_tally where ctid = any(array(
      select ctid from usage_tally where hour < $1 limit $2 for update skip locked))
    returning *),
  folded as (${foldInto("taken")})
  select count(*)::int as folded from taken`,
};

/** Tallies of hours that are over. */
export class Tallies {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  /** Folds some of them into rollups. Returns how many. */
  async fold(before: number): Promise<number> {
    const [row] = await this.#executor.query<{ folded: number }>(foldSql, [before, mostFolded]);
    return row?.folded ?? 0;
  }
}
