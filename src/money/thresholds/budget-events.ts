import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { formatUsd } from "#lib/money/money.ts";
import { ApiKey } from "#src/storage/entities/api-key.ts";
import { Budget } from "#src/storage/entities/metering/budget.ts";
import type { Announce } from "#src/storage/outbox/announcer.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { toWindowRequest } from "../model/budget-window.ts";
import type { PicoUsd } from "../model/interface.ts";
import type { BudgetStore } from "../model/store/budget.ts";
import type { PriceList } from "../prices/price-list.ts";
import type { AccountFailures } from "./account-failures.ts";
import { leastCharge } from "./least-charge.ts";
import { type SpentWindow, toName } from "./spent-windows.ts";

/**
 * The parts of a limit, in percent, whose spending is announced: once in each window, and again when the limit is set.
 */
export const announcedPercents = [80, 100] as const;
export type AnnouncedPercent = (typeof announcedPercents)[number];

interface Dependencies {
  readonly storage: Storage;
  readonly store: Pick<BudgetStore, "budgetSpending">;
  readonly prices: Pick<PriceList, "list">;
  readonly announce: Announce;
  /** Called with each part of a limit, in percent, that was passed: once in each window. */
  readonly crossed: (percent: AnnouncedPercent) => void;
}

/** Announces keys that have spent most of their budget, or all of it. */
export class BudgetEvents {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /**
   * Announces the keys that have passed a part of their budget, in windows that they were charged in. Notes the accounts
   * where that fails.
   */
  async judge(windows: readonly SpentWindow[], failures: AccountFailures): Promise<void> {
    const stored = await readStored(this.#parts.storage.orm.em.fork(), windows);
    for (const spent of windows) {
      const row = stored.get(toName(spent.budgetId, spent.window.name));
      await failures.of([spent.key.accountId], () => this.#judge(spent, row));
    }
  }

  async #judge(spent: SpentWindow, row: StoredWindow | undefined): Promise<void> {
    const amount = row?.leasedUnder === spent.limit ? row.spent : await this.#count(spent);
    const part = this.#partOf(spent, amount);
    if (part > (row?.percent ?? 0)) {
      const announced = await inTransaction(this.#parts.storage, (em) => this.#tell(em, spent, { amount, part }));
      announced.forEach(this.#parts.crossed);
    }
  }

  /** The spending of a window that was not leased under this limit yet. */
  async #count({ budgetId, limit, window }: SpentWindow): Promise<bigint> {
    return (await this.#parts.store.budgetSpending({ ...toWindowRequest(budgetId, window), limit })).spent;
  }

  #partOf({ key, limit }: SpentWindow, amount: bigint): number {
    if (amount >= limit - leastCharge(this.#parts.prices, key.limits.models ?? undefined)) {
      return 100;
    }
    return amount * 100n >= BigInt(limit) * 80n ? 80 : 0;
  }

  /**
   * Announces once, however many cores see it: the window's row is locked meanwhile, and the key's before it, as where a
   * limit is set. A limit that is not the key's any more is not announced: the next charge is judged by the new one.
   * Returns the announced parts.
   */
  async #tell(
    em: SqlEntityManager,
    { key, budgetId, limit, window }: SpentWindow,
    { amount, part }: { readonly amount: bigint; readonly part: number },
  ): Promise<AnnouncedPercent[]> {
    const { accountId, limits } = key;
    const current = await em.findOne(ApiKey, key.id, { lockMode: LockMode.PESSIMISTIC_READ });
    if (current === null || !isSameLimit(current, key)) {
      return [];
    }
    const id = { id: budgetId, windowName: window.name };
    // The row is never an entity here: a flush would write sums that others have changed since they were read.
    const empty = { ...id, accountId, leasedUnder: 0, spentOutsideSlices: 0, leased: 0, spent: 0 };
    await em.createQueryBuilder(Budget).insert(empty).onConflict(["id", "windowName"]).ignore().execute();
    const locked = em
      .createQueryBuilder(Budget)
      .select("announcedPercent")
      .where(id)
      .setLockMode(LockMode.PESSIMISTIC_WRITE);
    const { announcedPercent } = await locked.execute<Pick<Budget, "announcedPercent">>("get");
    const parts = announcedPercents.filter((percent) => percent > announcedPercent && percent <= part);
    for (const percent of parts) {
      await this.#parts.announce(em, {
        type: "key.limit",
        accountId,
        data: {
          key_id: key.id,
          name: key.name,
          prefix: key.prefix,
          last4: key.last4,
          percent,
          limit_usd: formatUsd(BigInt(limit)),
          spent_usd: formatUsd(amount),
          per: limits.budgetPeriod ?? "total",
          resets_at: window.endsAt === undefined ? null : new Date(window.endsAt).toISOString(),
        },
      });
    }
    if (part > announcedPercent) {
      await em.nativeUpdate(Budget, id, { announcedPercent: part });
    }
    return parts;
  }
}

function isSameLimit({ limits: one }: ApiKey, { limits: other }: ApiKey): boolean {
  return one.budgetPicoUsd === other.budgetPicoUsd && one.budgetPeriod === other.budgetPeriod;
}

/** A window of a budget as the store has it. */
interface StoredWindow {
  readonly leasedUnder: PicoUsd;
  /** The largest part of the limit that was announced. */
  readonly percent: number;
  readonly spent: bigint;
}

/** Rows of budgets, by budget and window. */
async function readStored(em: SqlEntityManager, windows: readonly SpentWindow[]) {
  const marks = (values: readonly unknown[]) => values.map(() => "?").join(", ");
  const ids = [...new Set(windows.map(({ budgetId }) => budgetId))];
  const names = [...new Set(windows.map(({ window }) => window.name))];
  const rows =
    windows.length === 0
      ? []
      : await em.execute<Row[]>(
          `select id, window_name, leased_under, announced_percent, cast(spent + coalesce((
             select sum(slice.spent) from budget_slice slice
             where slice.budget_id = budget.id and slice.window_name = budget.window_name and slice.open), 0) as text) as spent
           from budget where id in (${marks(ids)}) and window_name in (${marks(names)})`,
          [...ids, ...names],
        );
  const read = ({ leased_under, announced_percent, spent }: Row): StoredWindow => ({
    leasedUnder: Number(leased_under),
    percent: Number(announced_percent),
    spent: BigInt(String(spent)),
  });
  return new Map(rows.map((row) => [toName(String(row.id), String(row.window_name)), read(row)]));
}
