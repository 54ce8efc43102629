import type { Random } from "#lib/ids/random.ts";
import type { Entered, EpochClaim } from "../../model/store/core.ts";
import type { LeasedSlice } from "../../model/store/wallet.ts";
import type { Executor } from "./executor.ts";

const openSlicesSql = `
  select slice.id, slice.lot_id as lotId, slice.account_id as accountId, slice.granted, slice.spent, lot.kind,
    lot.priority, lot.price_version_id as priceVersion, lot.own_prices_id as ownPrices, lot.created_at as createdAt, lot.expires_at as expiresAt
  from slice join lot on lot.id = slice.lot_id where slice.open`;

/** This core in the file, and the epoch that its slices belong to. */
export class Epochs {
  readonly coreId: string;
  readonly #executor: Executor;
  readonly #random: Random;
  #current: number;

  /** `epoch`: the one that this process has begun already. 0: none. */
  constructor(executor: Executor, random: Random, coreId: string, epoch: number) {
    this.coreId = coreId;
    this.#executor = executor;
    this.#random = random;
    this.#current = epoch;
  }

  /** The epoch that this process has begun. 0: none. */
  get epoch(): number {
    return this.#current;
  }

  identify(): Promise<string> {
    return this.#executor.transaction((run) => {
      const made = [this.#random.uuid()];
      run.run("insert into setting (name, value) values ('database_id', ?) on conflict do nothing", made);
      const named = run.get<{ value: string }>("select value from setting where name = 'database_id'", []);
      if (named === undefined) {
        throw new Error("the database has no name");
      }
      return named.value;
    });
  }

  enter({ after }: EpochClaim): Promise<Entered> {
    return this.#executor.transaction((run) => {
      const core = run.get<{ epoch: number }>(
        `insert into core (id, epoch, beats, heartbeat_at)
         select ?, max(coalesce(max(epoch), 0), ?) + 1, 0, 0 from core where id = ? returning epoch`,
        [this.coreId, after, this.coreId],
      );
      this.#current = core?.epoch ?? 0;
      // The file belongs to this process alone, so every open slice was left behind, whatever its core's id was.
      run.run("update slice set core_id = ?, epoch = ? where open", [this.coreId, this.#current]);
      run.run("delete from core where id = ? and epoch < ?", [this.coreId, this.#current]);
      const adopted = run
        .all<LeasedSlice & { expiresAt: number | null }>(openSlicesSql, [])
        .map((row) => ({ ...row, expiresAt: row.expiresAt ?? undefined }));
      run.run("update budget_slice set core_id = ?, epoch = ? where open", [this.coreId, this.#current]);
      const budgets = run.all<{ id: string }>("select id from budget_slice where open", []);
      return { epoch: this.#current, adopted, adoptedBudgets: budgets.map(({ id }) => id) };
    });
  }
}
