import { expect } from "@jest/globals";

/** Times the work that twice the input may take. The square would take four times. */
const most = 2.5;
/** Milliseconds. Twice the input may always take this: shorter times say nothing. */
const floorMs = 1;
const mostTries = 40;

/**
 * Does some work on an input and on twice as much, and fails where the second takes more than 2.5 times the time of the
 * first. The least of many tries counts: whatever else the machine does only adds, as collecting garbage does.
 */
export function expectLinear(size: number, work: (size: number) => void): void {
  work(size); // compiles it
  let [once, twice] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const isLinear = () => twice <= Math.max(floorMs, most * once);
  for (let tries = 0; tries < mostTries && !isLinear(); tries++) {
    once = Math.min(
      once,
      timeOf(() => work(size)),
    );
    twice = Math.min(
      twice,
      timeOf(() => work(2 * size)),
    );
  }
  expect(isLinear() ? most : twice / once).toBeLessThanOrEqual(most);
}

function timeOf(work: () => void): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}
