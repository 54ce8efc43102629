import type { Margin } from "#gen/tollgate/metering/v1/margin_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { dayMs } from "#lib/time/days.ts";

// Weeks are sums of days, which the contract tells. They begin on Monday in UTC, as those of budgets do.

/** The Monday of the week of a day. */
export function weekOf(day: string): string {
  const at = Date.parse(`${day}T00:00:00Z`);
  const daysSinceMonday = (new Date(at).getUTCDay() + 6) % 7;
  return new Date(at - daysSinceMonday * dayMs).toISOString().slice(0, 10);
}

/** Adds rows of days up to rows of weeks, whose day is the Monday. Weeks stay in the order in which they begin to come. */
export function toWeeksOfUsage(rows: readonly UsageRow[]): UsageRow[] {
  return toWeeks(
    rows,
    ({ accountId, keyId, model, label }) => `${accountId} ${keyId} ${model} ${label}`,
    (one, other) => ({
      ...one,
      requests: one.requests + other.requests,
      inputTokens: one.inputTokens + other.inputTokens,
      outputTokens: one.outputTokens + other.outputTokens,
      totalCostPicoUsd: String(costOf(one) + costOf(other)),
    }),
  );
}

/** What a row cost. */
export function costOf({ totalCostPicoUsd, costPicoUsd }: UsageRow): bigint {
  return totalCostPicoUsd === "" ? costPicoUsd : BigInt(totalCostPicoUsd);
}

/** The same of margins. */
export function toWeeksOfMargins(margins: readonly Margin[]): Margin[] {
  return toWeeks(
    margins,
    ({ model }) => model,
    ({ costPicoUsd, marginPicoUsd, ...one }, other) => ({
      ...one,
      revenuePicoUsd: add(one.revenuePicoUsd, other.revenuePicoUsd),
      ...(costPicoUsd !== undefined &&
        other.costPicoUsd !== undefined && { costPicoUsd: add(costPicoUsd, other.costPicoUsd) }),
      ...(marginPicoUsd !== undefined &&
        other.marginPicoUsd !== undefined && { marginPicoUsd: add(marginPicoUsd, other.marginPicoUsd) }),
    }),
  );
}

const add = (one: string, other: string): string => String(BigInt(one) + BigInt(other));

function toWeeks<Row extends { readonly day: string }>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  addUp: (one: Row, other: Row) => Row,
): Row[] {
  const weeks = new Map<string, Row>();
  for (const row of rows) {
    const ofWeek = { ...row, day: weekOf(row.day) };
    const key = `${ofWeek.day} ${keyOf(row)}`;
    const before = weeks.get(key);
    weeks.set(key, before === undefined ? ofWeek : addUp(before, ofWeek));
  }
  return [...weeks.values()];
}
