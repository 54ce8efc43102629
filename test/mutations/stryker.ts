// Changes each file of the ledger and the journal that has tests without a server, mechanically, with Stryker: what the
// list of mutations does not think of. Prints the score of each file, and what survived. npx brings Stryker.
//   npm run stryker [-- TEXT]   files whose path has the text; [--threads 2]
// A file takes some minutes: each of its mutants runs its tests once.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { mutations } from "./list/all.ts";

const stryker = "@stryker-mutator/core@10.1.1";
const { startsServices } = createRequire(import.meta.url)("../../scripts/jest/unit-tests.cjs") as {
  startsServices: (file: string) => boolean;
};

/** What Stryker's report says of a mutant. */
interface Mutant {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: { readonly line: number } };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { threads: { type: "string", default: String(availableParallelism()) } },
});
const [text = ""] = positionals;
const directory = mkdtempSync(join(tmpdir(), "tollgate-stryker-"));
try {
  for (const [file, tests] of findFiles()) {
    const mutants = mutate(file, tests);
    const noticed = mutants.filter(({ status }) => status === "Killed" || status === "Timeout").length;
    console.log(`${file}: ${noticed} of ${mutants.length} noticed by ${tests.join(", ")}`);
    for (const { status, mutatorName, replacement, location } of mutants) {
      if (status === "Survived") {
        console.log(`  line ${location.start.line}: ${mutatorName}: ${replacement?.replaceAll(/\s+/g, " ") ?? ""}`);
      }
    }
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** The files of the ledger and the journal in the list of mutations, with their tests that need no server. */
function findFiles(): ReadonlyMap<string, readonly string[]> {
  const own = mutations.filter(({ file }) => /^src\/money\/(ledger|journal)\//.test(file) && file.includes(text));
  const files = Map.groupBy(own, ({ file }) => file);
  return new Map(
    [...files].flatMap(([file, of]) => {
      const mirrored = file.replace(/^src/, "test").replace(/\.ts$/, ".test.ts");
      const tests = new Set([mirrored, ...of.flatMap((one) => one.tests)]);
      const quick = [...tests].filter((test) => existsSync(test) && !startsServices(resolve(test)));
      return quick.length === 0 ? [] : [[file, quick] as const];
    }),
  );
}

function mutate(file: string, tests: readonly string[]): readonly Mutant[] {
  const [settings, report] = [join(directory, "stryker.json"), join(directory, "report.json")];
  const jest = "--require ./scripts/test-services/built-threads.cjs node_modules/jest/bin/jest.js";
  writeFileSync(
    settings,
    JSON.stringify({
      packageManager: "npm",
      testRunner: "command",
      commandRunner: { command: `node ${jest} --runInBand --bail --silent ${tests.join(" ")}` },
      mutate: [file],
      tsconfigFile: "none", // it would be rewritten with a compiler that Stryker does not know yet
      reporters: ["json"],
      jsonReporter: { fileName: report },
      concurrency: Number(values.threads),
      tempDirName: join(directory, "sandbox"),
      ignorePatterns: ["build", "dist", "data"],
      timeoutMS: 20_000,
    }),
  );
  const env = { ...process.env, NODE_COMPILE_CACHE: join(directory, "compiled") }; // a third of a run's CPU
  const { status, stdout } = spawnSync("npx", ["--yes", stryker, "run", settings], { encoding: "utf8", env });
  if (status !== 0) {
    throw new Error(`Stryker could not mutate ${file}:\n${stdout.slice(-2000)}`);
  }
  const { files } = JSON.parse(readFileSync(report, "utf8")) as { files: Record<string, { mutants: Mutant[] }> };
  return files[file]?.mutants ?? [];
}
