import { expect, test } from "@jest/globals";
import { PrefillEcho } from "#src/fleet/engines/shared/answer/prefill-echo.ts";

const long = "The three largest rivers are";

test.each<[string, readonly (readonly [prefill: string, first: string, left: string])[]]>([
  ["a build that repeats", [[long, `${long} the`, " the"]]],
  ["one that does not", [[long, " the", " the"]]],
  ["a short beginning of one that is not known", [["{", '{"a', '"a']]],
  [
    "a short beginning of one that does not repeat, whose model writes the same again",
    [
      [long, " the", " the"],
      ["{", '{"a', '{"a'],
    ],
  ],
  [
    "a build that repeats, after one that did not",
    [
      ["{", '"a', '"a'],
      [long, `${long} the`, " the"],
      ["{", '{"a', '"a'],
    ],
  ],
])("takes off what is repeated: %s", (_, answers) => {
  const traits = { repeatsPrefill: undefined };
  for (const [prefill, first, left] of answers) {
    expect(new PrefillEcho(prefill, traits).strip(first)).toBe(left);
  }
});
