import { expect, test } from "@jest/globals";
import { thinkingDepth } from "../../../simulator/engine/thinking.ts";

test.each([
  ["none", false, true, "max", "none"],
  ["always", false, false, "none", "normal"],
  ["always", true, undefined, "max", "deep"],
  ["default_off", true, undefined, undefined, "none"],
  ["default_off", true, true, undefined, "normal"],
  ["default_off", true, undefined, "low", "normal"],
  ["default_off", true, true, "max", "deep"],
  ["default_off", true, false, "max", "none"],
  ["default_off", false, true, "max", "normal"],
  ["default_on", false, undefined, undefined, "normal"],
  ["default_on", false, false, undefined, "none"],
  ["default_on", false, undefined, "none", "none"],
] as const)("%s (depths: %s) with switch %s and effort %s thinks %s", (mode, depths, enabled, effort, expected) => {
  expect(thinkingDepth({ mode, depths, shown: "field" }, { enabled, effort })).toBe(expected);
});
