import { expect, test } from "@jest/globals";
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
      better: "lower",
      held: true,
      cell: "chat plain, 16 at once, 10 tokens eager, short",
    },
  ]);
});

test.each([
  ["judged where one worker leaves room for half as much again", 0.4, [["throughput of two workers", 2]]],
  ["not judged where it does not", 0.3, []],
])("a second worker is %s", (_, idle, expected) => {
  const cell = { ...plain, scenario: "scaled-out" };
  const of = (system: string, requestsPerSecond: number) =>
    results(cell, system, 200).map((result) => ({
      ...result,
      requestsPerSecond: { median: requestsPerSecond, min: requestsPerSecond, max: requestsPerSecond },
      idle: { median: idle, min: idle, max: idle },
    }));
  const verdicts = judge([...of("tollgate-workers-1", 1000), ...of("tollgate-workers-2", 2000)]);
  expect(verdicts.map(({ budget, measured }) => [budget, measured])).toEqual(expected);
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
