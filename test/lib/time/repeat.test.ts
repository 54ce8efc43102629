import { expect, test } from "@jest/globals";
import { repeat } from "#lib/time/repeat.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";

test("a job that fails again and again is told of once, and once that it succeeds again", async () => {
  const clock = new ManualClock();
  const lines: string[] = [];
  const tell = (_: object, message: string) => void lines.push(message);
  let runs = 0;
  let away = false;
  const stop = repeat(clock, 1000, { ...silentLogger, info: tell, error: tell }, "look", async () => {
    runs++;
    if (away) {
      throw new Error("the store is away");
    }
  });
  await clock.pass(3000);
  expect([runs, lines]).toEqual([3, []]);
  away = true;
  await clock.pass(5000);
  expect([runs, lines]).toEqual([8, ["could not look"]]);
  away = false;
  await clock.pass(3000);
  expect(lines).toEqual(["could not look", "could look again"]);
  stop();
  await clock.pass(3000);
  expect(runs).toBe(11);
});
