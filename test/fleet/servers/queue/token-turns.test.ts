import { expect, test } from "@jest/globals";
import { TokenTurns } from "#src/fleet/servers/queue/token-turns.ts";

test("who was served fewer tokens is next", () => {
  const turns = new TokenTurns();
  turns.serve("large", 24_000);
  turns.serve("small", 500);
  turns.serve("small", 500);
  expect(turns.rank("large")).toBeGreaterThan(turns.rank("small"));
  turns.serve("large", -23_500);
  expect(turns.rank("large")).toBeLessThan(turns.rank("small"));
});

test("whoever comes is level with those who wait, however long it was away", () => {
  const turns = new TokenTurns();
  turns.serve("busy", 10_000);
  turns.advance(9000);
  expect([turns.rank("new"), turns.rank("busy")]).toEqual([9000, 10_000]);
  turns.serve("new", 500);
  expect(turns.rank("new")).toBe(9500);
  turns.advance(20_000);
  turns.advance(5000); // never back
  expect([turns.rank("new"), turns.rank("busy")]).toEqual([20_000, 20_000]);
});

test("a hundred thousand keys are not remembered", () => {
  const turns = new TokenTurns();
  for (let key = 0; key < 100_000; key++) {
    turns.serve(`key-${key}`, 100);
  }
  expect([turns.rank("key-0"), turns.rank("key-99999")]).toEqual([0, 100]);
});

test("of too many keys those are let go that were served longest ago", () => {
  const turns = new TokenTurns();
  const serve = (prefix: string, keys: number) => {
    for (let key = 0; key < keys; key++) {
      turns.serve(`${prefix}-${key}`, 100);
    }
  };
  for (const key of ["once", "often", "often"]) {
    turns.serve(key, 100);
  }
  serve("some", 5000);
  turns.serve("often", 100);
  serve("more", 6000);
  expect([turns.rank("once"), turns.rank("some-0"), turns.rank("often"), turns.rank("more-0")]).toEqual([
    0, 0, 300, 100,
  ]);
});
