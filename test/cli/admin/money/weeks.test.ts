import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { MarginSchema } from "#gen/tollgate/metering/v1/margin_service_pb.js";
import { UsageRowSchema } from "#gen/tollgate/metering/v1/usage_pb.js";
import { toWeeksOfMargins, toWeeksOfUsage, weekOf } from "#src/cli/admin/money/weeks.ts";

test.each([
  ["2026-01-26", "2026-01-26"],
  ["2026-02-01", "2026-01-26"],
  ["2026-02-02", "2026-02-02"],
  ["2027-01-01", "2026-12-28"],
])("the week of %s begins on %s", (day, monday) => {
  expect(weekOf(day)).toBe(monday);
});

test("days of usage add up to weeks, each group by itself", () => {
  const row = (day: string, model: string, cost: string) =>
    create(UsageRowSchema, { day, model, requests: 2n, inputTokens: 3n, outputTokens: 4n, totalCostPicoUsd: cost });
  const weeks = toWeeksOfUsage([
    row("2026-01-31", "a", "1"),
    row("2026-02-01", "a", "20"),
    row("2026-02-01", "b", "300"),
    row("2026-02-02", "a", "4000"),
  ]);
  expect(weeks).toMatchObject([
    { day: "2026-01-26", model: "a", requests: 4n, inputTokens: 6n, outputTokens: 8n, totalCostPicoUsd: "21" },
    { day: "2026-01-26", model: "b", requests: 2n, totalCostPicoUsd: "300" },
    { day: "2026-02-02", model: "a", requests: 2n, totalCostPicoUsd: "4000" },
  ]);
});

test("a week's margin is not known where a day's is not", () => {
  const day = (at: string, facts: object) =>
    create(MarginSchema, { day: at, model: "a", revenuePicoUsd: "5", ...facts });
  const known = { costPicoUsd: "2", marginPicoUsd: "3" };
  expect(toWeeksOfMargins([day("2026-01-31", known), day("2026-02-01", known)])).toMatchObject([
    { day: "2026-01-26", revenuePicoUsd: "10", costPicoUsd: "4", marginPicoUsd: "6" },
  ]);
  const [week] = toWeeksOfMargins([day("2026-01-31", known), day("2026-02-01", {})]);
  expect(week).toMatchObject({ revenuePicoUsd: "10" });
  expect(week?.costPicoUsd).toBeUndefined();
});
