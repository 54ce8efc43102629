import { expect, test } from "@jest/globals";
import { takeUndisturbed } from "./undisturbed.ts";

test.each([
  ["the first one when it is hardly disturbed", [0.1, 0], 0.1, 0],
  ["the first that is hardly disturbed", [0.5, 0.2, 0.05, 0], 0.05, 2],
  ["the least disturbed when all are", [0.5, 0.2, 0.4, 0.3, 0.6, 0], 0.2, 4],
])("takes %s", async (_, disturbances, taken, retakes) => {
  const lines: string[] = [];
  const take = async () => disturbances.shift() ?? 0;
  expect(await takeUndisturbed(take, (turn) => turn, { retakes: 4, progress: (line) => lines.push(line) })).toBe(taken);
  expect(lines).toHaveLength(retakes);
});
