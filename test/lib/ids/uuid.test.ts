import { randomFillSync } from "node:crypto";
import { expect, test } from "@jest/globals";
import { validate, version } from "uuid";
import { uuidSource } from "../../../lib/ids/uuid.ts";

const MADE_AT = 1_767_225_600_000;

test("makes version 7 with the time in front", () => {
  const id = uuidSource(randomFillSync, () => MADE_AT)();
  expect(validate(id)).toBe(true);
  expect(version(id)).toBe(7);
  expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(MADE_AT);
});

test.each([
  ["stands still", () => MADE_AT],
  ["goes back", (made: number) => MADE_AT - made],
  ["goes on", (made: number) => MADE_AT + made],
])("sorts by making when the clock %s", (_, clock) => {
  let made = 0;
  const uuid = uuidSource(randomFillSync, () => clock(made++));
  const ids = Array.from({ length: 1000 }, uuid);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("fetches randomness for many at a time and uses none of it twice", () => {
  let filled = 0;
  const uuid = uuidSource(
    (bytes) => {
      filled++;
      randomFillSync(bytes);
    },
    () => MADE_AT,
  );
  const tails = Array.from({ length: 512 }, () => uuid().slice(-11));
  expect(filled).toBe(2);
  expect(new Set(tails).size).toBe(tails.length);
});
