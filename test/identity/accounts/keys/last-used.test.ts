import { expect, test } from "@jest/globals";
import { LastUsed } from "#src/identity/accounts/keys/last-used.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

function setUp(fail = false) {
  const clock = new ManualClock();
  const warnings: string[] = [];
  const note = (_: object, message: string) => void warnings.push(message);
  const stored: { ids: readonly string[]; at: number }[] = [];
  const lastUsed = new LastUsed(
    async (ids, at) => {
      if (fail) {
        throw new Error("away");
      }
      stored.push({ ids, at: at.getTime() });
    },
    clock,
    { debug: note, info: note, warn: note, error: note },
  );
  return { clock, stored, warnings, lastUsed };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("what was used is written once a minute", async () => {
  const { clock, stored, lastUsed } = setUp();
  const start = clock.now();
  for (let second = 0; second < 60; second++) {
    lastUsed.note("busy");
    if (second === 12) {
      lastUsed.note("once");
    }
    clock.advance(1000);
  }
  await settled();
  expect(stored).toEqual([
    { ids: ["busy"], at: start + 50_000 },
    { ids: ["once"], at: start + 10_000 },
  ]);
  clock.advance(600_000);
  await settled();
  expect(stored).toHaveLength(2);
});

test("closing time writes at once", async () => {
  const { clock, stored, lastUsed } = setUp();
  lastUsed.note("k");
  await lastUsed.flush();
  expect(stored).toHaveLength(1);
  clock.advance(60_000);
  await lastUsed.flush();
  expect(stored).toHaveLength(1);
});

test("a store that is away is a warning, no more", async () => {
  const { lastUsed, warnings } = setUp(true);
  lastUsed.note("k");
  await lastUsed.flush();
  expect(warnings).toEqual(["the last use of keys was not written"]);
});
