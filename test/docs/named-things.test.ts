import { existsSync, globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import type { Command } from "commander";
import { parse } from "yaml";
import { createProgram } from "#src/cli/program.ts";
import { configJsonSchema } from "#src/config/json-schema.ts";

// Whatever the documents name is there: commands with their options, fields, metrics, alerts, variables, scripts, files.

const root = fileURLToPath(new URL("../../", import.meta.url));
const pages = globSync(["*.md", "docs/**/*.md", "src/**/*.md"], { cwd: root }).filter(
  (page) => page !== "CHANGELOG.md",
);
const texts = new Map(pages.map((page) => [page, readFileSync(root + page, "utf8")]));
const program = await createProgram({ environment: {}, print: () => {}, note: () => {}, progress: () => {} });
const sources = globSync(
  ["{src,lib,facades,scripts,bin,deploy,console,test}/**/*.{ts,tsx,js,yaml,service,env}", "deploy/**/Containerfile*"],
  { cwd: root },
)
  .filter((file) => !file.endsWith("named-things.test.ts"))
  .map((file) => readFileSync(root + file, "utf8"))
  .join("\n");

/** Every match in every page, as "page: match", that is not as it should be. */
function listWrong(pattern: RegExp, isRight: (found: string) => boolean): string[] {
  return [...texts].flatMap(([page, text]) =>
    Array.from(text.matchAll(pattern), ([whole, found = whole]) => found)
      .filter((found) => !isRight(found))
      .map((found) => `${page}: ${found}`),
  );
}

/** Calls of the program: in a line of a block, or in a code span, where the program's own name may be left out. */
const groups = program.commands.filter(({ commands }) => commands.length > 0).map((command) => command.name());
const calls = new RegExp(
  `(?:(?:^|\`|\\$ |npx |&& )tollgate |\`(?=(?:${groups.join("|")}) [a-z]))(?!ready|\\w+ are )([a-z][^\`\\n#|]*)`,
  "gm",
);

/** The command that the words begin with, and the words behind it. Undefined: there is none. */
function findCommand(words: readonly string[]): { command: Command; rest: readonly string[] } | undefined {
  let command: Command = program;
  let at = 0;
  for (; command.commands.length > 0; at++) {
    const next = command.commands.find((one) => one.name() === words[at]);
    if (next === undefined) {
      if (command.options.length > 0 && command !== program) {
        break; // a group that acts itself
      }
      return at === 0 || words[at] !== undefined ? undefined : { command, rest: [] };
    }
    command = next;
  }
  return { command, rest: words.slice(at) };
}

test("every command that a page shows is one of the program's, with its options", () => {
  const wrong = listWrong(calls, (call) => {
    const words = call.trim().split(/\s+/);
    const found = findCommand(words);
    if (found === undefined) {
      return false;
    }
    const known = new Set(found.command.options.flatMap(({ long, short }) => [long, short]));
    return found.rest.filter((word) => /^--?[a-z]/.test(word)).every((word) => known.has(word.split("=", 1)[0] ?? ""));
  });
  expect(wrong).toEqual([]);
});

test("every npm script that a page names is in package.json", () => {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { scripts: Record<string, string> };
  expect(listWrong(/npm run (?:-s |--silent )?([a-z:-]+)/g, (name) => name in scripts)).toEqual([]);
});

test("every variable of the environment that a page names is read somewhere", () => {
  expect(listWrong(/\bTOLLGATE_[A-Z_]+[A-Z]\b/g, (name) => sources.includes(name.replace(/_FILE$/, "")))).toEqual([]);
});

test("every metric that a page names is exported", () => {
  const known = (name: string) => sources.includes(`"${name.replace(/_(bucket|sum|count)$/, "")}"`);
  expect(listWrong(/\btollgate_[a-z_]*[a-z]\b(?![_*])/g, known)).toEqual([]);
});

test("every alert that a page names is among the rules", () => {
  const { groups } = parse(readFileSync(`${root}deploy/prometheus/alerts.yaml`, "utf8")) as {
    groups: { rules: { alert: string }[] }[];
  };
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  expect(listWrong(/`(Tollgate[A-Z]\w+)`/g, (name) => alerts.includes(name))).toEqual([]);
});

test("every field of the configuration that a page names is in its schema", () => {
  const fields = new Set<string>();
  const walk = (schema: Schema, path: string) => {
    for (const [name, child] of Object.entries(schema.properties ?? {})) {
      fields.add(`${path}${name}`);
      walk(child, `${path}${name}.`);
    }
    for (const child of [schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
      if (child !== undefined) {
        walk(child, path);
      }
    }
  };
  const schema = configJsonSchema() as Schema;
  walk(schema, "");
  const sections = Object.keys(schema.properties ?? {}).join("|");
  const named = new RegExp(`\`((?:${sections})(?:\\[\\])?(?:\\.[a-z_0-9]+(?:\\[\\])?)+)(?:: [^\`]*)?\``, "g");
  const others = ["models.ts", "http.route", "http.response.status_code"]; // a file, and attributes of spans
  expect(listWrong(named, (name) => fields.has(name.replaceAll("[]", "")) || others.includes(name))).toEqual([]);
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

test("every file of the project that a page names is there", () => {
  const path = /`((?:src|lib|facades|test|scripts|proto|docs|deploy|bin|client|console|native|gen)\/[\w./@-]*\w)\/?`/g;
  const isTest = (name: string) => existsSync(`${root}test/${name}.test.ts`); // a test of lib/, named without test/
  expect(listWrong(path, (name) => name.includes("NAME") || existsSync(root + name) || isTest(name))).toEqual([]);
});
