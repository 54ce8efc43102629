import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";

// Every promise of SECURITY.md leads to the test that holds it.

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("SECURITY.md", root), "utf8");

/** The sections that promise what the program does. */
const sections = ["What is protected, and from whom", "Credentials", "Dependencies"];

/** What says how the page is read, what somebody else does or does not, or who wants what. */
const noPromises = [
  /could (want|cause)/,
  /puts the balance at risk/,
  /^Each promise leads to/,
  /^\[Security tests\]/,
  /^Node\.js itself takes/,
  /^Other gRPC clients with more calls/,
  /^It is kept (as an API key is|in the file or variable that)/,
  /^32 are finished at a time/,
  /^Versions are pinned/,
  /^`npm run audit` asks/,
  /^`npm test` never asks/,
  /^`npm run sbom` writes/,
  /says how images are pinned/,
];

/** The sentences of a section, each as one line. Colons end none, and neither do points within a name. */
function sentencesOf(section: string): string[] {
  const [, rest = ""] = page.split(`\n## ${section}\n`);
  const [text = ""] = rest.split(/\n## /);
  const blocks = text.split(/\n\n|\n(?=\s*- )/).filter((block) => !/^\s*#/.test(block));
  return blocks
    .map((block) =>
      block
        .replace(/^\s*- /, "")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .flatMap((block) => block.split(/(?<=[.:][)*]*) (?=[A-Z`[\d])/))
    .filter((sentence) => sentence !== "");
}

const sentences = sections.flatMap(sentencesOf);
const testsOf = (text: string) => Array.from(text.matchAll(/\]\((test\/[^)]+)\)/g), ([, path = ""]) => path);

test("every promise names a test", () => {
  const promises = sentences.filter((sentence) => !noPromises.some((other) => other.test(sentence)));
  expect(promises.length).toBeGreaterThan(60);
  expect(promises.filter((sentence) => testsOf(sentence).length === 0)).toEqual([]);
});

test("what is said to promise nothing is there", () => {
  expect(noPromises.filter((other) => !sentences.some((sentence) => other.test(sentence)))).toEqual([]);
});

test("every test that is named is there, and is one", () => {
  const named = testsOf(page);
  expect(named.filter((path) => !/\.test\.ts$/.test(path) || !existsSync(new URL(path, root)))).toEqual([]);
});
