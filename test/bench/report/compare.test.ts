import { expect, test } from "@jest/globals";
import type { Figure } from "../scenario.ts";
import { compare } from "./compare.ts";
import { figure, plain, results } from "./results.fixture.ts";
import type { Result } from "./summary.ts";

const run = (of: Result[], figures: Figure[] = []) => ({ results: of, figures });

test("shows a change that costs 10 %, and that the rounds are apart", () => {
  const changes = compare(run(results(plain, "tollgate", 200)), run(results(plain, "tollgate", 220)), 0.05);
  expect(changes.map(({ system, figure, overlaps }) => [system, figure, overlaps])).toEqual([
    ["tollgate", "CPU against raw", false],
    ["tollgate", "CPU", false],
  ]);
  expect(changes[0]?.part).toBeCloseTo(0.1);
});

test("leaves out small changes and loads that only one run has", () => {
  const before = run(results(plain, "tollgate", 200));
  expect(compare(before, run(results(plain, "tollgate", 204)), 0.05)).toEqual([]);
  expect(compare(before, run(results({ ...plain, size: 200 }, "tollgate", 400)), 0.05)).toEqual([]);
});

test.each([
  ["lower", 80, false],
  ["lower", 120, true],
  ["higher", 80, true],
  ["higher", 120, false],
] as const)("a figure of which %s is better, from 100 to %d, is worse: %s", (better, now, worse) => {
  const [change] = compare(run([], [figure(100, better)]), run([], [figure(now, better)]), 0.05);
  expect(change).toMatchObject({ name: "ledger", figure: "settlements", before: 100, after: now, worse });
});
