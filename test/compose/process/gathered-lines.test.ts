import { beforeEach, expect, test } from "@jest/globals";
import { GatheredLines } from "#src/compose/process/gathered-lines.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

let clock: ManualClock;
let done: string[];
let lines: GatheredLines;
beforeEach(() => {
  clock = new ManualClock();
  done = [];
  const output = { write: (given: string) => done.push(given), flush: () => done.push("flush") };
  lines = new GatheredLines(output, { ms: 100, length: 5 }, clock);
});

test("nothing is timed and nothing is written while no line comes", () => {
  expect(clock.pending).toBe(0);
  clock.advance(1000);
  lines.handOver();
  expect(done).toEqual([]);
});

test("lines are written together, so many milliseconds after the first one", () => {
  lines.write("1");
  clock.advance(60);
  lines.write("2");
  expect(clock.pending).toBe(1);
  clock.advance(39);
  expect(done).toEqual([]);
  clock.advance(1);
  expect(done).toEqual(["12", "flush"]);
  lines.write("3");
  clock.advance(100);
  expect(done).toEqual(["12", "flush", "3", "flush"]);
  expect(clock.pending).toBe(0);
});

test("the output gets each line once, with all others that came, as soon as they are many or are asked for", () => {
  lines.write("123");
  lines.write("456");
  expect(done).toEqual(["123456"]);
  lines.write("7");
  lines.handOver();
  expect(done).toEqual(["123456", "7"]);
});
