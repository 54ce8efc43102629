import { ApiKey } from "#src/storage/entities/api-key.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { Budget as KeyBudget } from "#src/wire/principal.ts";
import { type BudgetWindow, windowAt } from "../model/budget-window.ts";
import type { PicoUsd } from "../model/interface.ts";

/** A key that was charged. */
export interface ChargedKey {
  readonly keyId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Whether some of its charges counted in no slice of a budget. */
  readonly unbudgeted: boolean;
}

/** A window of a budget in which a key was charged, and that key. */
export interface SpentWindow {
  readonly key: ApiKey;
  readonly budgetId: string;
  readonly limit: PicoUsd;
  readonly window: BudgetWindow;
  /** A moment of such a charge, in milliseconds since the epoch. */
  readonly at: number;
  /** Whether charges of its keys counted in no slice of a budget. */
  readonly unbudgeted: boolean;
}

interface Dependencies {
  readonly storage: Storage;
  /** The budget of a key. Undefined: it has none. */
  readonly toBudget: (key: ApiKey) => KeyBudget | undefined;
}

/** Finds the windows of budgets that keys were charged in. Keys without a budget have none. */
export async function findSpentWindows(
  { storage, toBudget }: Dependencies,
  charged: readonly ChargedKey[],
): Promise<SpentWindow[]> {
  const ids = [...new Set(charged.map(({ keyId }) => keyId))].filter((id) => id !== "");
  const em = storage.orm.em.fork();
  const found =
    ids.length === 0 ? [] : await em.find(ApiKey, { id: { $in: ids }, limits: { budgetPicoUsd: { $ne: null } } });
  const keys = new Map(found.map((key) => [key.id, key]));
  const windows = new Map<string, SpentWindow>();
  for (const { keyId, at, unbudgeted } of charged) {
    const key = keys.get(keyId);
    const budget = key && toBudget(key);
    if (key !== undefined && budget !== undefined) {
      const window = windowAt(budget.period, at);
      const name = toName(budget.id, window.name);
      const isUnbudgeted = unbudgeted || (windows.get(name)?.unbudgeted ?? false);
      const spent = { key, budgetId: budget.id, limit: budget.limit, window, at };
      windows.set(name, { ...spent, unbudgeted: isUnbudgeted });
    }
  }
  return [...windows.values()];
}

/** The key of a budget's window in a map. */
export function toName(budgetId: string, windowName: string): string {
  return `${budgetId} ${windowName}`;
}
