import { type ErrorDetail, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";

/** The limits that refuse requests, by their names in metrics. */
export const limitNames = [
  ...(["requests", "tokens", "in_flight", "free_tier", "budget", "budget_held"] as const),
  ...(["balance", "balance_held", "frozen"] as const),
] as const;
export type LimitName = (typeof limitNames)[number];

const byReason: Partial<Record<Reason, LimitName>> = {
  [Reason.FREE_TIER_LIMITED]: "free_tier",
  [Reason.BUDGET_EXHAUSTED]: "budget",
  [Reason.BUDGET_HELD]: "budget_held",
  [Reason.BALANCE_EXHAUSTED]: "balance",
  [Reason.BALANCE_HELD]: "balance_held",
  [Reason.ACCOUNT_FROZEN]: "frozen",
};

/** The limit that refused a call. Undefined: none did. */
export function readRefusedLimit({ reason, bound }: Pick<ErrorDetail, "reason" | "bound">): LimitName | undefined {
  if (reason !== Reason.RATE_LIMITED) {
    return byReason[reason];
  }
  if (bound.case === "concurrency") {
    return "in_flight";
  }
  return bound.case === "requestRate" ? "requests" : "tokens";
}
