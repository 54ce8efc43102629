import type { Budget } from "#src/wire/principal.ts";
import type { SimulatedServer } from "../database/server.ts";
import type { Customer } from "./customers.ts";

/** Stores a customer's keys in the books, so that their charges are found. A budget has its key's name. */
export function storeKeys(
  { tables }: SimulatedServer,
  { accountId, callers, budgetLimits }: Customer,
  at: number,
): void {
  for (const [place, { keyId, budget, ...caller }] of callers.entries()) {
    if (keyId === "") {
      continue;
    }
    tables.run(
      `insert into api_key (id, account_id, name, digest, pepper_version, prefix, last4, created_at, budget, budget_period)
       values (?, ?, '', ?, 1, '', '', ?, ?, ?)`,
      ...[keyId, accountId, Buffer.from(keyId), at, budget?.limit ?? null, budget?.period ?? null],
    );
    if (budget !== undefined) {
      budgetLimits.set(keyId, budget.limit);
      callers[place] = { ...caller, keyId, budget: { ...budget, id: keyId } };
    }
  }
}

/**
 * Changes a key's limit, or sets its first one, while its requests run. As in the product, what was spent is counted and
 * told anew.
 */
export function storeLimit({ tables }: SimulatedServer, keyId: string, { limit, period }: Budget): void {
  tables.run("update api_key set budget = ?, budget_period = ? where id = ?", limit, period, keyId);
  tables.run("update budget set leased_under = 0, announced_percent = 0 where id = ?", keyId);
}
