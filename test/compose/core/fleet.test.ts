import { expect, test } from "@jest/globals";
import { tellLoading } from "#src/compose/core/fleet.ts";

test("how far a model is that is loaded into this process is told every two seconds", () => {
  const told: string[] = [];
  const logger = { info: (_: object, text: string) => void told.push(text) };
  let now = 0;
  const report = tellLoading("tiny", logger, () => now);
  const total = 4000 * 2 ** 20;
  for (const [at, part] of [
    [1000, 0.1],
    [2500, 0.25],
    [4000, 0.4],
    [5000, 0.5],
  ] as const) {
    now = at;
    report(total * part, total);
  }
  expect(told).toEqual([
    "loading tiny: 25 %, 1,000 of 4,000 MiB, about 8 s left",
    "loading tiny: 50 %, 2,000 of 4,000 MiB, about 5 s left",
  ]);
});
