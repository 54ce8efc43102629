import { expect, test } from "@jest/globals";
import { Fingerprints } from "#src/money/ledger/fingerprints.ts";

const ids = (prefix: string) =>
  Array.from({ length: 50_000 }, (_, at) => `req_${prefix}${at.toString(16).padStart(20, "0")}`);

test("has what was added, however much that is, and nothing else", () => {
  const [added, others] = [ids("0193"), ids("0194")];
  const prints = new Fingerprints();
  for (const id of added) {
    prints.add(id);
    prints.add(id);
  }
  expect(added.filter((id) => !prints.has(id))).toEqual([]);
  expect(others.filter((id) => prints.has(id))).toEqual([]);
});

test("has nothing once it was cleared", () => {
  const prints = new Fingerprints();
  prints.add("a");
  prints.clear();
  expect(prints.has("a")).toBe(false);
  prints.add("b");
  expect([prints.has("a"), prints.has("b")]).toEqual([false, true]);
});
