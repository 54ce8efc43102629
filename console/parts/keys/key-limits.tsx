import { type ApiKey, BudgetPeriod } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { countOf, formatCount, formatShort } from "../../format/numbers.ts";
import { Amount } from "../figures/amount.tsx";
import { Meter } from "../figures/figure.tsx";

/** The names of budget periods. */
export const periodNames: Readonly<Record<BudgetPeriod, string>> = {
  [BudgetPeriod.UNSPECIFIED]: "in all",
  [BudgetPeriod.TOTAL]: "in all",
  [BudgetPeriod.DAY]: "a day",
  [BudgetPeriod.WEEK]: "a week",
  [BudgetPeriod.MONTH]: "a month",
};

/** The names of a key's service class, where the key has its own. */
const classNames: Readonly<Partial<Record<ServiceClass, string>>> = {
  [ServiceClass.FLEX]: "flex",
  [ServiceClass.STANDARD]: "standard",
  [ServiceClass.PRIORITY]: "priority",
};

/** A key's limits, and how much of its budget is spent. */
export function KeyLimits({ apiKey }: { readonly apiKey: ApiKey }) {
  const limits = [
    apiKey.rpm !== undefined && `${formatCount(apiKey.rpm)} requests/min`,
    apiKey.tokensPerMinute !== undefined && `${formatShort(apiKey.tokensPerMinute)} tokens/min`,
    apiKey.maxInFlight !== undefined && `${formatCount(apiKey.maxInFlight)} at once`,
    classNames[apiKey.serviceClass],
    apiKey.models.length > 0 && countOf(apiKey.models.length, "model"),
  ].filter((limit) => limit !== false && limit !== undefined);
  if (apiKey.manages) {
    return <span title="It makes and changes keys of its account, and runs no inference.">manages</span>;
  }
  const hasNone = limits.length === 0 && apiKey.budgetPicoUsd === undefined;
  return (
    <div class="limits">
      {hasNone && <span class="muted">as its account</span>}
      {limits.length > 0 && <span title={apiKey.models.join(", ")}>{limits.join(", ")}</span>}
      {apiKey.budgetPicoUsd !== undefined && <Budget apiKey={apiKey} budget={apiKey.budgetPicoUsd} />}
    </div>
  );
}

function Budget({ apiKey, budget }: { readonly apiKey: ApiKey; readonly budget: bigint }) {
  const spent = apiKey.budgetSpentPicoUsd ?? 0n;
  return (
    <span class="budget">
      <span>
        <Amount pico={spent} /> of <Amount pico={budget} /> {periodNames[apiKey.budgetPeriod]}
      </span>
      <Meter part={Number(spent) / Number(budget)} />
    </span>
  );
}
