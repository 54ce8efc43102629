import type { ApiKey } from "#src/storage/entities/api-key.ts";
import type { Budget } from "#src/wire/principal.ts";

/** The spending limit of a key, shared with its rotation chain. Undefined: as much as its account has. */
export function toBudget({ id, limitsOf, limits }: ApiKey): Budget | undefined {
  const { budgetPicoUsd, budgetPeriod } = limits;
  return budgetPicoUsd ? { id: limitsOf ?? id, limit: budgetPicoUsd, period: budgetPeriod ?? "total" } : undefined;
}
