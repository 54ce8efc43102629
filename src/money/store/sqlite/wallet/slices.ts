import { type SliceRange, type SmallerSlice, type StoredSlice, slicePage } from "../../../model/store/wallet.ts";
import type { Epochs } from "../epochs.ts";
import type { Executor } from "../executor.ts";

const storedSlices = `
  select id, account_id as accountId, granted, granted - spent as unspent from slice where open and core_id = ? and epoch = ?`;

/** A page of whole accounts. */
const slicesAfter = `${storedSlices} and account_id > ? and account_id <= (
  select max(account_id) from (
    select account_id from slice where open and core_id = ? and account_id > ? order by account_id limit ?))
  order by account_id`;

/** Lists, shrinks and closes slices of lots. */
export class Slices {
  readonly #executor: Executor;
  readonly #core: Epochs;

  constructor(executor: Executor, core: Epochs) {
    this.#executor = executor;
    this.#core = core;
  }

  open(range: SliceRange): Promise<StoredSlice[]> {
    const { coreId, epoch } = this.#core;
    return this.#executor.plain(({ all }) =>
      "accountId" in range
        ? all<StoredSlice>(`${storedSlices} and account_id = ?`, [coreId, epoch, range.accountId])
        : all<StoredSlice>(slicesAfter, [coreId, epoch, range.after, coreId, range.after, slicePage]),
    );
  }

  giveBack(slices: readonly SmallerSlice[]): Promise<void> {
    return this.#executor.transaction((run) => {
      for (const { sliceId, granted } of slices) {
        const mine = [sliceId, this.#core.epoch];
        const slice = run.get<{ lotId: string; granted: number }>(
          "select lot_id as lotId, granted from slice where id = ? and open and epoch = ?",
          mine,
        );
        if (slice !== undefined && slice.granted > granted) {
          run.run("update slice set granted = ? where id = ?", [granted, sliceId]);
          run.run("update lot set leased = leased - ? where id = ?", [slice.granted - granted, slice.lotId]);
        }
      }
    });
  }

  close(sliceIds: readonly string[]): Promise<void> {
    return this.#executor.transaction((run) => {
      for (const id of sliceIds) {
        const slice = run.get<{ lotId: string; granted: number; spent: number }>(
          "update slice set open = false where id = ? and open and epoch = ? returning lot_id as lotId, granted, spent",
          [id, this.#core.epoch],
        );
        if (slice === undefined) {
          continue;
        }
        run.run("update lot set leased = leased - ?, spent = spent + ? where id = ?", [
          slice.granted,
          slice.spent,
          slice.lotId,
        ]);
      }
    });
  }
}
