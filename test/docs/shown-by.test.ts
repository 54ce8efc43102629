import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

// What a page says is shown by tests is shown by tests that there are.

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (page: string) => readFileSync(`${root}docs/${page}`, "utf8");
const pages = globSync("**/*.md", { cwd: `${root}docs` }).filter((page) => /^Shown by /m.test(read(page)));

/** Sections by their headings of second order. */
const sectionsOf = (text: string) =>
  new Map(
    text
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf("\n")), section] as const),
  );

/** The names of tests in a text. "…/name" is in the folder of the name before it. */
function readNames(text: string): string[] {
  let folder = "";
  return Array.from(text.matchAll(/`((?:…|[\w-]+)(?:\/[\w*-]+)+)`/g), ([, name = ""]) => {
    const whole = name.replace("…", folder);
    folder = dirname(whole);
    return whole;
  });
}

const isThere = (name: string) =>
  name.endsWith("/*")
    ? globSync(`${root}test/${name}.test.ts`).length > 0
    : existsSync(`${root}test/${name}.test.ts`) || existsSync(`${root}test/${name}.test.tsx`);

const shownBy = (text: string) => text.match(/^Shown by [\s\S]*?(?=\n\n|$(?![\s\S]))/gm)?.join("\n") ?? "";

test.each(pages)("the tests that %s names are there", (page) => {
  const names = readNames(shownBy(read(page)));
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => !isThere(name))).toEqual([]);
});

test("every promise about money names its tests, and so does every section", () => {
  const text = read("money.md");
  const [, table = ""] = /^\| promise .*\n.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
  const promises = table
    .trimEnd()
    .split("\n")
    .map((row) => readNames(row.split("|")[3] ?? ""));
  expect(promises.length).toBeGreaterThanOrEqual(7);
  expect(promises.filter((names) => names.length === 0)).toEqual([]);
  expect(promises.flat().filter((name) => !isThere(name))).toEqual([]);
  const without = [...sectionsOf(text)].filter(([, section]) => shownBy(section) === "").map(([name]) => name);
  expect(without).toEqual([]);
});

test("every guarantee of the proof names a test or a benchmark that is there", () => {
  const section = sectionsOf(read("proof.md")).get("What shows it") ?? "";
  const [, ...guarantees] = section.split(/^- /m);
  expect(guarantees.length).toBeGreaterThan(50);
  expect(guarantees.filter((one) => readNames(one).length === 0 && !/`npm run bench -- \w+`/.test(one))).toEqual([]);
  expect(readNames(section).filter((name) => !name.startsWith("test/") && !isThere(name))).toEqual([]);
});
