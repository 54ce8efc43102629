import { expect, test } from "@jest/globals";
import { eventually } from "../../support/eventually.ts";
import { watchStalls } from "./stalls.ts";
import { createThreadClock } from "./thread-clock.ts";

const cpuNow = createThreadClock();

/** Runs a function while the event loop is watched, in a turn of its own. */
async function watch(run: () => void) {
  let turns = 0;
  let what = "nothing";
  const tell = watchStalls(() => what);
  const timer = setInterval(() => turns++, 1);
  await eventually("the loop has turned", () => turns > 3);
  what = "the run";
  run();
  turns = 0;
  await eventually("the loop has turned", () => turns > 3);
  clearInterval(timer);
  return tell();
}

test("a turn of the event loop that takes long is told by the CPU that it used, with what was under way", async () => {
  const { count, max, longest } = await watch(() => {
    for (const since = cpuNow(); cpuNow() - since < 60_000; ) {}
  });
  expect(count).toBeGreaterThan(3);
  expect(max).toBeGreaterThanOrEqual(60);
  expect(longest).toMatchObject({ cpu: max, during: "the run" });
  expect(longest.wall).toBeGreaterThanOrEqual(60);
});

test("collections of garbage are told of the turn that they fell into", async () => {
  const { longest } = await watch(() => {
    let made: object[] = []; // so much at a time that a slow clock does not bound it
    for (const since = cpuNow(); cpuNow() - since < 100_000; ) {
      made = Array.from({ length: 1000 }, (_, at) => ({ at, before: made.length }));
    }
  });
  expect(longest.collecting).toBeGreaterThan(0);
  expect(longest.collecting).toBeLessThanOrEqual(longest.wall);
});
