import { expect, test } from "@jest/globals";
import { Backoff } from "../../../src/compose/workers/backoff.ts";

test("waits longer each time, up to a bound", () => {
  const backoff = new Backoff({ firstMs: 500, mostMs: 3000, heldMs: 60_000 });
  expect([0, 10, 0, 59_999, 0].map((ran) => backoff.after(ran))).toEqual([500, 1000, 2000, 3000, 3000]);
});

test("begins again after a run that held", () => {
  const backoff = new Backoff({ firstMs: 500, mostMs: 3000, heldMs: 60_000 });
  expect([0, 0, 60_000, 0].map((ran) => backoff.after(ran))).toEqual([500, 1000, 500, 1000]);
});
