import { randomFillSync } from "node:crypto";
import { expect, test } from "@jest/globals";
import { validate, version } from "uuid";
import { uuidSource } from "#lib/ids/uuid.ts";

const madeAt = 1_767_225_600_000;

test("makes version 7 with the time in front", () => {
  const id = uuidSource(randomFillSync, () => madeAt)();
  expect(validate(id)).toBe(true);
  expect(version(id)).toBe(7);
  expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(madeAt);
});

test.each([
  ["stands still", () => madeAt],
  ["goes back", (made: number) => madeAt - made],
  ["goes on", (made: number) => madeAt + made],
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
    () => madeAt,
  );
  const tails = Array.from({ length: 512 }, () => uuid().slice(-11));
  expect(filled).toBe(2);
  expect(new Set(tails).size).toBe(tails.length);
});
