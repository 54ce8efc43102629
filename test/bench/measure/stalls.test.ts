import { expect, test } from "@jest/globals";
import { eventually } from "../../support/eventually.ts";
import { watchStalls } from "./stalls.ts";

test("a turn of the event loop that takes long is told by the CPU that it used", async () => {
  let turns = 0;
  const tell = watchStalls();
  const timer = setInterval(() => turns++, 1);
  await eventually("the loop has turned", () => turns > 3);
  const since = process.threadCpuUsage();
  while (process.threadCpuUsage(since).user < 60_000) {}
  turns = 0;
  await eventually("the loop has turned", () => turns > 3);
  clearInterval(timer);
  const { count, max } = tell();
  expect(count).toBeGreaterThan(3);
  expect(max).toBeGreaterThanOrEqual(60);
});
