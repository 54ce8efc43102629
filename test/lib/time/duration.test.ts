import { create, toJson } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { toDuration, toMilliseconds } from "#lib/time/duration.ts";

test.each([
  [0, "0s"],
  [0.25, "0.000250s"],
  [1_500, "1.500s"],
  [59_999.999_999_8, "60s"], // what is left of a minute on a clock of fractions
  [86_400_000, "86400s"],
])("%d ms are the duration %s, which every language takes", (ms, text) => {
  expect(toJson(DurationSchema, create(DurationSchema, toDuration(ms)))).toBe(text);
});

test.each([
  [{ seconds: 0n, nanos: 0 }, 0],
  [{ seconds: 0n, nanos: 1 }, 1], // never shorter than what was said
  [{ seconds: 0n, nanos: 900_000_000 }, 900],
  [{ seconds: 59n, nanos: 999_999_999 }, 60_000],
])("the duration %j is %d ms", (duration, ms) => {
  expect(toMilliseconds(duration)).toBe(ms);
});
