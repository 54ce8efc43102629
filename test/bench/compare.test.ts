import { expect, test } from "@jest/globals";
import { compare } from "./compare.ts";
import { plain, results } from "./results.fixture.ts";

test("shows a change that costs 10 %, and that the rounds are apart", () => {
  const changes = compare(results(plain, "tollgate", 200), results(plain, "tollgate", 220), 0.05);
  expect(changes.map(({ system, figure, overlaps }) => [system, figure, overlaps])).toEqual([
    ["tollgate", "CPU against raw", false],
    ["tollgate", "CPU", false],
  ]);
  expect(changes[0]?.part).toBeCloseTo(0.1);
});

test("leaves out small changes and loads that only one run has", () => {
  expect(compare(results(plain, "tollgate", 200), results(plain, "tollgate", 204), 0.05)).toEqual([]);
  expect(compare(results({ ...plain, size: 200 }, "tollgate", 200), results(plain, "tollgate", 400), 0.05)).toEqual([]);
});
