import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import type { BudgetPeriod } from "../../../lib/limits/budget-period.ts";
import { type LimitKind, limitEntries, readLimits } from "../../../lib/limits/key-limits.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { Amount } from "../figures/amount.tsx";
import { Meter } from "../figures/figure.tsx";

const periodNames: Readonly<Record<BudgetPeriod, string>> = {
  total: "in all",
  day: "a day",
  week: "a week",
  month: "a month",
};

/** What a limit of each kind is in the list. Kinds that are shown elsewhere have none. */
const texts: Readonly<Partial<Record<LimitKind, (value: never, unit: string) => string>>> = {
  count: (count: number, unit) => `${formatCount(count)} ${unit}`,
  class: (name: string) => name,
  models: (ids: readonly string[]) => countOf(ids.length, "model"),
};

/** A key's limits, and how much of its budget is spent. */
export function KeyLimits({ apiKey }: { readonly apiKey: ApiKey }) {
  if (apiKey.manages) {
    return <span title="It makes and changes keys of its account, and runs no inference.">manages</span>;
  }
  const limits = readLimits(apiKey.limits);
  const shown = limitEntries.flatMap(([field, { kind, unit = "" }]) =>
    limits[field] === null ? [] : (texts[kind]?.(limits[field] as never, unit) ?? []),
  );
  const { budgetPicoUsd, budgetPeriod, models } = limits;
  return (
    <div class="limits">
      {shown.length === 0 && budgetPicoUsd === null && <span class="muted">as its account</span>}
      {shown.length > 0 && <span title={models?.join(", ")}>{shown.join(", ")}</span>}
      {budgetPicoUsd !== null && (
        <Budget
          spent={apiKey.budgetSpentPicoUsd ?? 0n}
          budget={BigInt(budgetPicoUsd)}
          period={periodNames[budgetPeriod ?? "total"]}
        />
      )}
    </div>
  );
}

function Budget({
  spent,
  budget,
  period,
}: {
  readonly spent: bigint;
  readonly budget: bigint;
  readonly period: string;
}) {
  return (
    <span class="budget">
      <span>
        <Amount pico={spent} /> of <Amount pico={budget} /> {period}
      </span>
      <Meter part={Number(spent) / Number(budget)} />
    </span>
  );
}
