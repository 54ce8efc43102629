import { create, toJson } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { durationOf } from "../../../lib/errors/failure.ts";

test.each([
  [0, "0s"],
  [0.25, "0.000250s"],
  [1_500, "1.500s"],
  [59_999.999_999_8, "60s"], // what is left of a minute on a clock of fractions
  [86_400_000, "86400s"],
])("%d ms are the duration %s, which every language takes", (ms, text) => {
  expect(toJson(DurationSchema, create(DurationSchema, durationOf(ms)))).toBe(text);
});
