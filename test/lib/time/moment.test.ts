import { expect, test } from "@jest/globals";
import { parseMoment } from "#lib/time/moment.ts";

test.each([
  ["2026-01-31", "2026-01-31T00:00:00.000Z"],
  ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"],
  ["2026-01-31T23:30:00.25-02:00", "2026-02-01T01:30:00.250Z"],
  ["0000-01-01", "0000-01-01T00:00:00.000Z"],
])("%s is %s", (text, time) => {
  expect(parseMoment(text)?.toISOString()).toBe(time);
});

test.each([
  ...["", "yesterday", "2026-02-29", "2026-02-30", "2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00"],
  ...["2026-02-30T12:00:00Z", "2026-01-31T25:00:00Z", "2026-01-31 12:00", "2026-01-31T12:00:00", "20260131"],
])("%j is no moment", (text) => {
  expect(parseMoment(text)).toBeUndefined();
});
