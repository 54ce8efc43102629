import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

// The walk-throughs of CONTRIBUTING.md name files; these show that they name the right ones.

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(`${root}CONTRIBUTING.md`, "utf8");
const named = (heading: string) => {
  const part = page.split(`### ${heading}\n`)[1]?.split(/^##/m)[0] ?? "";
  return [...part.matchAll(/`([\w./-]+\.(?:ts|proto))`/g)].map(([, path = ""]) => path);
};
const files = execFileSync("git", ["ls-files", "src", "lib", "facades", "console", "proto"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => /\.(tsx?|proto)$/.test(path) && existsSync(root + path));

test("every file that CONTRIBUTING.md names is there", () => {
  const paths = [...page.matchAll(/`((?:src|lib|facades|test|scripts|proto|docs)\/[\w./-]+)`/g)].map(
    ([, path]) => path,
  );
  expect(paths.length).toBeGreaterThan(15);
  expect(paths.filter((path) => !path?.includes("NAME") && !existsSync(root + path))).toEqual([]);
});

test("the map of architecture.md names every folder", () => {
  const map = readFileSync(`${root}docs/architecture.md`, "utf8");
  const folders = readdirSync(`${root}src`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).filter((name) => !map.includes(`\`src/${name}/\``))).toEqual([]);
});

test("the page of src/money names every room", () => {
  const rooms = readFileSync(`${root}src/money/README.md`, "utf8");
  const folders = readdirSync(`${root}src/money`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).filter((name) => !rooms.includes(`[${name}](${name})`))).toEqual([]);
});

test("an engine's folder has the files that the walk-through names", () => {
  const of = named("An engine").filter((path) => /^(driver|dialect|engine|inspect|start)\.ts$/.test(path));
  expect(of).toEqual(["dialect.ts", "engine.ts", "inspect.ts", "start.ts"]);
  const folders = new Set(files.map((path) => /^src\/fleet\/engines\/([^/]+)\//.exec(path)?.[1] ?? "shared"));
  const engines = [...folders].filter((name) => !["drivers", "shared", "llama-cpp-embedded"].includes(name));
  expect(engines.length).toBeGreaterThan(8);
  for (const engine of engines) {
    const found = readdirSync(`${root}src/fleet/engines/${engine}`);
    expect(found).toContain("driver.ts");
    expect(found).toContain("inspect.ts");
    expect(found.includes("dialect.ts") || found.includes("engine.ts")).toBe(true);
  }
});

test("a sampling field stands in the files that the walk-through names and in no other", () => {
  const field = /presencePenalty|presence_penalty/;
  const found = files.filter((path) => !path.startsWith("simulator/") && field.test(readFileSync(root + path, "utf8")));
  const steps = named("A sampling field").map((path) =>
    path === "binding.ts" ? "src/fleet/engines/llama-cpp-embedded/binding.ts" : path,
  );
  const completions = "proto/tollgate/chat/v1/completion.proto"; // the second form of the same surface
  expect(found.filter((path) => path !== completions).sort()).toEqual([...steps].sort());
  expect(steps.length).toBeLessThanOrEqual(7);
});

test("a limit of a key stands in the files that the walk-through names and in no other", () => {
  const limit = /tokensPerMinute|tokens_per_minute|\btpm\b/;
  const written = files.filter((path) => !path.startsWith("src/storage/migrations/")); // those are generated
  const found = written.filter((path) => limit.test(readFileSync(root + path, "utf8")));
  const steps = named("A limit of a key");
  expect(found.sort()).toEqual([...steps].sort());
  expect(steps.length).toBeLessThanOrEqual(8);
});

test("both surfaces have the files that the walk-through names", () => {
  const own = ["surface.ts", "errors.ts", "request/generate.ts", "response/answer.ts", "response/stream.ts"];
  for (const file of own) {
    expect(page).toContain(file);
    for (const surface of ["chat", "messages"]) {
      expect(existsSync(`${root}facades/${surface}/${file}`)).toBe(true);
    }
  }
});

test("a receipt's column passes through the files that the walk-through names", () => {
  const steps = named("A receipt's column").filter((path) => path !== "src/money/store/usage-columns.ts");
  expect(steps.length).toBeLessThanOrEqual(7);
  for (const path of steps) {
    expect(readFileSync(root + path, "utf8")).toMatch(/outputTokens|output_tokens/);
  }
});
