import { expect, test } from "@jest/globals";
import { memoryReader } from "../../../lib/overload/memory.ts";

test("memory in use is a part of what there is, and a larger one of a share", () => {
  const whole = memoryReader(1)();
  expect(whole).toBeGreaterThan(0);
  expect(whole).toBeLessThan(1);
  expect(memoryReader(1_000_000)()).toBeGreaterThan(whole);
});
