import { expect, test } from "@jest/globals";
import { TokenTurns } from "../../../../src/fleet/servers/queue/token-turns.ts";

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
