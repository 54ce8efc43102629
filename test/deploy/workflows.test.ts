import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { root } from "./files.ts";

// What no runner is needed for: the pins, the rights, and the names in the workflows of GitHub.

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<string, { readonly permissions?: Readonly<Record<string, string>>; readonly steps: readonly Step[] }>
  >;
}

const { scripts, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

describe.each(["ci", "release"])("the workflow %s", (name) => {
  const text = readFileSync(join(root, ".github", "workflows", `${name}.yml`), "utf8");
  const workflow = parse(text) as Workflow;
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

  test("takes every action at one commit, and says which version that is", () => {
    const lines = text.split("\n").filter((line) => line.includes("uses:"));
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.filter((line) => !/uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  test("may only read, but for the job that publishes, and keeps no credentials in its clone", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    const more = Object.entries(workflow.jobs).flatMap(([job, { permissions }]) => (permissions ? [job] : []));
    expect(more).toEqual(name === "release" ? ["release"] : []);
    const clones = steps.filter(({ uses }) => uses?.includes("/checkout@"));
    expect(clones.filter((step) => step.with?.["persist-credentials"] !== false)).toEqual([]);
  });

  test("runs on the project's Node.js, and only scripts and files that there are", () => {
    const nodes = steps.flatMap((step) => (step.uses?.includes("/setup-node@") ? [step.with?.["node-version"]] : []));
    expect(new Set(nodes)).toEqual(new Set([devDependencies.node]));
    const commands = steps.map(({ run = "" }) => run).join("\n");
    const named = [...commands.matchAll(/npm run ([\w:]+)/g)].map(([, script = ""]) => script);
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
    const files = commands.match(/(?<![\w./-])(deploy|scripts|\.ci)\/[\w./-]+/g) ?? [];
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});
