import { expect, test } from "@jest/globals";
import { longPrompt } from "../measure/cell.ts";
import { judge, judgeFigures, margin } from "./budgets.ts";
import { figure, plain, results } from "./results.fixture.ts";

const stream = { ...plain, scenario: "stream", stream: true } as const;

/** The budgets of short plain requests beside their CPU, which are judged at 16 at once alone. */
const besideCpu = (p50: number, p99: number) => [
  ["added time of a plain answer, p50", p50, p50 <= 2.5],
  ["added time of a plain answer, p99", p99, p99 <= 6],
  ["plain requests a second", 1, true],
  ["resident memory under plain load", 1, true],
];

test.each([
  [plain, "tollgate", 200, 1, [["CPU of a plain request, all in one", 2.5, true], ...besideCpu(0, 0)]],
  [plain, "tollgate", 320, 5, [["CPU of a plain request, all in one", 4, false], ...besideCpu(4, 8)]],
  [{ ...plain, concurrency: 64 }, "tollgate", 200, 1, [["CPU of a plain request, all in one", 2.5, true]]],
  [plain, "peer", 320, 1, []],
  [
    { ...plain, prompt: longPrompt },
    "tollgate",
    240,
    1,
    [["CPU of a plain request with a long prompt, all in one", 3, false]],
  ],
  [stream, "tollgate", 160, 1, [["CPU of a streamed token of a short answer, all in one", 2, true]]],
  [{ ...stream, size: 200 }, "tollgate", 160, 1, [["CPU of a streamed token, all in one", 2, true]]],
  [{ ...stream, model: "steady", size: 200 }, "tollgate", 240, 1, [["CPU of a streamed token, all in one", 3, false]]],
  [
    { ...stream, model: "paced" },
    "tollgate",
    160,
    4,
    [
      ["CPU of a paced token, all in one", 2, false],
      ["added time to first token, p50", 3, false],
      ["added time to first token, p99", 6, false],
    ],
  ],
])("%# %j under %s", (cell, system, cpu, firstToken, expected) => {
  const verdicts = judge(results(cell, system, cpu, firstToken));
  expect(verdicts.map(({ budget, measured, held }) => [budget, measured, held])).toEqual(expected);
});

test.each([
  [{}, "CPU of a plain request, facade and core apart", 2.5],
  [{ prompt: longPrompt }, "CPU of a plain request with a long prompt, facade and core apart", 3.5],
  [{ stream: true }, "CPU of a streamed token, facade and core apart", 1.7],
])("compares the split deployment with the one process: %j", (change, budget, limit) => {
  const cell = { ...plain, scenario: "split", ...change };
  const [direct, whole] = results(cell, "tollgate", 200);
  const [, apart] = results(cell, "tollgate-split", 400);
  expect(judge([direct, whole, apart].filter((result) => result !== undefined))).toEqual([
    expect.objectContaining({ budget, limit, measured: 2, unit: "× all in one", held: 2 <= limit }),
  ]);
});

test("tells how much of the limit is left", () => {
  const [verdict] = judge(results(plain, "tollgate", 180));
  expect(verdict && margin(verdict)).toBeCloseTo(0.25);
});

test.each([
  ["higher", 6000, true, 0.2],
  ["higher", 4000, false, -0.2],
  ["lower", 4000, true, 0.2],
  ["lower", 6000, false, -0.2],
] as const)("a figure with a limit of 5,000 of which %s is better: %d", (better, value, held, left) => {
  const [verdict] = judgeFigures([figure(value, better, 5000)]);
  expect(verdict).toMatchObject({ budget: "ledger", cell: "settlements", measured: value, held });
  expect(verdict && margin(verdict)).toBeCloseTo(left);
});

test("a figure without a limit is not judged", () => {
  expect(judgeFigures([figure(1, "lower")])).toEqual([]);
});
