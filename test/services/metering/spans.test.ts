import { expect, test } from "@jest/globals";
import { splitSpans } from "#src/services/metering/spans.ts";

const at = (text: string) => new Date(text).getTime();

test("a time is cut at whole hours or days of UTC; the ends may be parts", () => {
  expect(splitSpans("hour", at("2026-01-31T22:30:00Z"), at("2026-02-01T00:15:00Z"))).toEqual([
    { name: "2026-01-31T22:00:00Z", ms: 1_800_000 },
    { name: "2026-01-31T23:00:00Z", ms: 3_600_000 },
    { name: "2026-02-01T00:00:00Z", ms: 900_000 },
  ]);
  expect(splitSpans("day", at("2026-01-31T22:30:00Z"), at("2026-02-02T00:00:00Z"))).toEqual([
    { name: "2026-01-31", ms: 5_400_000 },
    { name: "2026-02-01", ms: 86_400_000 },
  ]);
  expect(splitSpans("hour", at("2026-01-31T22:30:00Z"), at("2026-01-31T22:40:00Z"))).toEqual([
    { name: "2026-01-31T22:00:00Z", ms: 600_000 },
  ]);
});

test("more spans than can be shown are refused", () => {
  expect(splitSpans("hour", 0, at("2026-01-31"))).toBeUndefined();
  expect(splitSpans("hour", 0, 10_000 * 3_600_000)).toHaveLength(10_000);
});
