import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { Mutation } from "./mutation.ts";
import { Results } from "./results.ts";

const mutation: Mutation = {
  ...{ name: "one is two", file: "src/one.ts", find: "1", replace: "2", breaks: "", tests: ["test/one.test.ts"] },
};
const seen = { name: mutation.name, test: "one.test.ts: is one", judge: undefined, worlds: 300 };
const missed = { ...seen, test: undefined };

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "mutation-results-"));
  for (const folder of ["src", "test", "build"]) {
    mkdirSync(join(root, folder));
  }
  write("src/one.ts", "1");
  write("src/other.ts", "2");
  write("test/one.test.ts", "is one");
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (file: string, text: string) => writeFileSync(join(root, file), text);

test("a later run goes on where one was broken off, in the middle of a line", () => {
  new Results(root).add(mutation, seen);
  appendFileSync(join(root, "build/mutations.jsonl"), '\n{"key":"a, and no more');
  const results = new Results(root);
  expect(results.find(mutation)).toMatchObject({ test: seen.test, worlds: 300 });
  results.add({ ...mutation, replace: "3" }, seen);
  expect(new Results(root).find({ ...mutation, replace: "3" })).toBeDefined();
});

test("what was noticed is tried again once its source, its tests or itself are others", () => {
  new Results(root).add(mutation, seen);
  expect(new Results(root).find({ ...mutation, replace: "3" })).toBeUndefined();
  write("src/other.ts", "3");
  expect(new Results(root).find(mutation)).toBeDefined();
  write("test/one.test.ts", "is not two");
  expect(new Results(root).find(mutation)).toBeUndefined();
});

test("what was missed is tried again once anything is another", () => {
  new Results(root).add(mutation, missed);
  expect(new Results(root).find(mutation)).toBeDefined();
  write("src/other.ts", "3");
  expect(new Results(root).find(mutation)).toBeUndefined();
});

test("a fresh run forgets everything", () => {
  const results = new Results(root);
  results.add(mutation, seen);
  results.forget();
  expect(results.find(mutation)).toBeUndefined();
  expect(new Results(root).find(mutation)).toBeUndefined();
});
