import { getEventListeners } from "node:events";
import { expect, test } from "@jest/globals";
import { pause } from "../../../console/parts/calls/pause.ts";

test("a page that asks again and again leaves no listener behind, be it to the end or broken off", async () => {
  const { signal } = new AbortController();
  for (let round = 0; round < 5; round++) {
    await pause(1, signal);
  }
  expect(getEventListeners(signal, "abort")).toEqual([]);
  const left = new AbortController();
  const waiting = pause(3_600_000, left.signal);
  expect(getEventListeners(left.signal, "abort")).toHaveLength(1);
  left.abort();
  await waiting;
  expect(getEventListeners(left.signal, "abort")).toEqual([]);
});
