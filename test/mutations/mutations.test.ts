import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { expect, test } from "@jest/globals";
import { mutate } from "./copy.ts";
import { mutations } from "./list/all.ts";

const { startsServices } = createRequire(import.meta.url)("../../scripts/jest/unit-tests.cjs") as {
  startsServices: (file: string) => boolean;
};
const flat = (text: string) => text.replaceAll(/[\s*]+/g, " ");
/** What is promised, without marks and line ends. */
const promises = flat(
  [
    ...globSync("docs/money{.md,/*.md}"),
    "docs/failures.md",
    "docs/labels.md",
    "docs/configuration.md",
    "docs/operations.md",
    "docs/people.md",
    "docs/payments.md",
    "docs/proof.md",
    "docs/statement.md",
    "src/money/README.md",
  ]
    .map((path) => readFileSync(path, "utf8"))
    .join("\n"),
);

test("there are at least 80 mutations, each with a name of its own", () => {
  expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length);
  expect(mutations.length).toBeGreaterThanOrEqual(80);
});

test.each(mutations)("$file has the text that is replaced so that $name", ({ file, find, replace }) => {
  const text = readFileSync(file, "utf8");
  expect(mutate(text, { file, find, replace })).not.toBe(text);
});

test.each(mutations)("the pages promise what is broken when $name", ({ breaks }) => {
  expect(promises.includes(flat(breaks))).toBe(true);
});

test("every test that a mutation names exists", () => {
  const there = new Set(globSync("test/**/*.test.ts"));
  expect(mutations.flatMap(({ tests }) => tests).filter((path) => !there.has(path))).toEqual([]);
  expect(mutations.filter(({ tests }) => tests.length === 0)).toEqual([]);
});

test("the short list needs no server", () => {
  const short = mutations.filter(({ isShort }) => isShort);
  const first = short.flatMap(({ tests }) => tests.slice(0, 1));
  expect(first.length).toBeGreaterThan(20);
  expect([...new Set(first)].filter((path) => startsServices(resolve(path)))).toEqual([]);
});
