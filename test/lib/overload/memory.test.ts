import { totalmem } from "node:os";
import { expect, test } from "@jest/globals";
import { boundToMemory, readUsedMemory } from "#lib/overload/memory.ts";

test("memory in use is a part of what there is", () => {
  const used = readUsedMemory();
  expect(used).toBeGreaterThan(0);
  expect(used).toBeLessThan(1);
});

test.each(["heap", "machine"] as const)(
  "one purpose gets what it wishes for, and an eighth of the %s at most",
  (place) => {
    expect(boundToMemory(1000, place)).toBe(1000);
    const most = boundToMemory(1e15, place);
    expect(most).toBeGreaterThan(1000);
    expect(most).toBeLessThanOrEqual(totalmem() / 8);
  },
);
