import { expect, test } from "@jest/globals";
import { readMetric } from "./metrics.ts";

const exposition = `# HELP held Money held.
# TYPE held gauge
held 2.5
held_more 7
space{space="old"} 100
space{space="new"} 20
uncharged{model="a b"} 1
uncharged{model="c"} 2
`;

test.each([
  ["held", "", 2.5],
  ["space", 'space="old"', 100],
  ["space", "", 120],
  ["uncharged", "", 3],
  ["absent", "", undefined],
])("%s %s", (name, labels, expected) => {
  expect(readMetric(exposition, name, labels)).toBe(expected);
});
