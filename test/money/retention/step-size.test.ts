import { expect, test } from "@jest/globals";
import { StepSize } from "#src/money/retention/step-size.ts";

/** The rows of each step, where one takes so long for each row. */
function steps(msARow: (step: number) => number, count: number): number[] {
  const size = new StepSize(10);
  return Array.from({ length: count }, (_, step) => {
    const { rows } = size;
    size.took(rows, rows * msARow(step));
    return rows;
  });
}

test("steps grow until they take the time that others may wait, and no longer", () => {
  expect(steps(() => 0.01, 8)).toEqual([40, 80, 160, 320, 640, 640, 640, 640]);
  expect(steps(() => 0, 12).at(-1)).toBe(5000);
});

test("a step that took too long makes the next one shorter, at least one row", () => {
  expect(steps((step) => (step < 3 ? 0.01 : 1), 7)).toEqual([40, 80, 160, 320, 10, 10, 10]);
  expect(steps(() => 1000, 3)).toEqual([40, 1, 1]);
});

test("a step that had few rows to take says nothing of larger ones", () => {
  const size = new StepSize(10);
  size.took(3, 0.1);
  expect(size.rows).toBe(40);
});
