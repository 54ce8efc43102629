import { expect, test } from "@jest/globals";
import { BoundedMap } from "#lib/overload/bounded-map.ts";

test("holds no more than so many, and forgets what was set the longest ago", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2).set("a", 3);
  expect([...map]).toEqual([
    ["b", 2],
    ["a", 3],
  ]);
  expect([...map.set("c", 4)]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});
