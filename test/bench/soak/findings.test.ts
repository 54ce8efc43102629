import { expect, test } from "@jest/globals";
import { figuresOf, plotsOf } from "./findings.ts";
import type { Reading } from "./readings.ts";

const mebibyte = 2 ** 20;

function reading(at: number, oldHeap: number, holds = 0): Reading {
  const sizes = { resident: 300 * mebibyte, heap: oldHeap, oldHeap, handles: 10, files: 20 };
  return { at, ...sizes, unfinished: { tollgate_holds: holds }, uncharged: 0 };
}

/** Half an hour of readings of a heap that leaks so many MiB an hour under its garbage. */
function watched(leak: number, holds: number) {
  const readings = Array.from({ length: 360 }, (_, turn) => {
    const at = turn * 5;
    return reading(at, (50 + (turn % 25) + (at / 3600) * leak) * mebibyte);
  });
  return { system: "tollgate", part: "serve", readings, before: reading(0, 0), after: reading(1800, 0, holds) };
}

const figure = (leak: number, holds: number, name: string) =>
  figuresOf(watched(leak, holds), 300).find((one) => one.name === `tollgate, serve: ${name}`);

test.each([0, 40, 400])("a heap that grows by %d MiB an hour", (leak) => {
  expect(figure(leak, 0, "growth of the old heap")?.value.median).toBeCloseTo(leak, -1);
  expect(figure(leak, 0, "growth of resident memory")?.value.median).toBe(0);
});

test.each([0, 2])("%d holds that are left over", (holds) => {
  const left = figure(0, holds, "requests, holds and charges unfinished when idle again");
  expect(left).toMatchObject({ value: { median: holds }, limit: 0 });
});

test("draws each process", () => {
  const drawn = plotsOf([watched(0, 0)]);
  expect([...drawn.keys()]).toEqual(["soak-resident", "soak-heap"]);
  expect(drawn.get("soak-heap")).toContain("tollgate, serve");
});

test("growth is not judged on a short run", () => {
  const { readings, ...rest } = watched(400, 0);
  const figures = figuresOf({ ...rest, readings: readings.slice(0, 120) }, 100);
  expect(figures.find(({ name }) => name.endsWith("old heap"))).not.toHaveProperty("limit");
  expect(figure(400, 0, "growth of the old heap")).toHaveProperty("limit", 30);
});
