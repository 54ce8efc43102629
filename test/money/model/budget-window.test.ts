import { expect, test } from "@jest/globals";
import { windowAt, withinWindow } from "#src/money/model/budget-window.ts";

const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16));

test.each([
  ["day", "2026-03-01T23:59:59.999Z", "2026-03-01T00:00", "2026-03-02T00:00"],
  ["day", "2026-03-02T00:00:00.000Z", "2026-03-02T00:00", "2026-03-03T00:00"],
  ["week", "2026-11-22T23:59:59.999Z", "2026-11-16T00:00", "2026-11-23T00:00"],
  ["week", "2026-11-23T00:00:00.000Z", "2026-11-23T00:00", "2026-11-30T00:00"],
  ["month", "2024-02-29T12:00:00.000Z", "2024-02-01T00:00", "2024-03-01T00:00"],
  ["month", "2026-12-31T23:59:59.999Z", "2026-12-01T00:00", "2027-01-01T00:00"],
  ["total", "2026-12-31T23:59:59.999Z", "1970-01-01T00:00", undefined],
] as const)("the %s of %s is from %s to %s in UTC", (period, at, from, to) => {
  const window = windowAt(period, Date.parse(at));
  expect([iso(window.startsAt), iso(window.endsAt)]).toEqual([from, to]);
});

test("each window has a name of its own, and all its moments have the same", () => {
  const names = new Set<string>();
  for (let hour = 0; hour < 24 * 400; hour++) {
    names.add(windowAt("month", Date.UTC(2025, 0, 1, hour)).name);
  }
  expect(names.size).toBe(14);
  expect(windowAt("day", 0).name).toBe("day 0");
});

test("a charge is entered in the window of its admission, however late, and whatever the clock says", () => {
  const window = windowAt("day", Date.parse("2026-03-01T12:00:00Z"));
  const entered = (at: string) => new Date(withinWindow(window, Date.parse(at))).toISOString();
  expect(entered("2026-03-01T13:00:00.000Z")).toBe("2026-03-01T13:00:00.000Z");
  expect(entered("2026-03-02T00:00:05.000Z")).toBe("2026-03-01T23:59:59.999Z");
  expect(entered("2026-02-28T23:00:00.000Z")).toBe("2026-03-01T00:00:00.000Z");
});
