import { expect, test } from "@jest/globals";
import { judge, margin } from "./budgets.ts";
import { plain, results } from "./results.fixture.ts";

const stream = { ...plain, scenario: "stream", stream: true } as const;

test.each([
  [plain, "tollgate", 200, 1, [["CPU of a plain request, all in one", 2.5, true]]],
  [plain, "tollgate", 320, 1, [["CPU of a plain request, all in one", 4, false]]],
  [plain, "peer", 320, 1, []],
  [stream, "tollgate", 160, 1, [["CPU of a streamed token, all in one", 2, true]]],
  [
    { ...stream, model: "paced" },
    "tollgate",
    160,
    4,
    [
      ["CPU of a streamed token, all in one", 2, true],
      ["added time to first token, p50", 3, false],
      ["added time to first token, p99", 6, false],
    ],
  ],
])("%# %j under %s", (cell, system, cpu, firstToken, expected) => {
  const verdicts = judge(results(cell, system, cpu, firstToken));
  expect(verdicts.map(({ budget, measured, held }) => [budget, measured, held])).toEqual(expected);
});

test("compares the split deployment with the one process", () => {
  const split = { ...plain, scenario: "split" };
  const [raw, whole] = results(split, "tollgate", 200);
  const [, apart] = results(split, "tollgate-split", 300);
  expect(judge([raw, whole, apart].filter((result) => result !== undefined))).toEqual([
    {
      budget: "CPU split into facade and core",
      limit: 1.7,
      measured: 1.5,
      unit: "× all in one",
      held: true,
      cell: "chat plain, 16 at once, 10 tokens eager, short",
    },
  ]);
});

test("tells how much of the limit is left", () => {
  const [verdict] = judge(results(plain, "tollgate", 180));
  expect(verdict && margin(verdict)).toBeCloseTo(0.25);
});
