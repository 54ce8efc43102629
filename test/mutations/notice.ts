import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Copy } from "./copy.ts";
import type { Mutation } from "./mutation.ts";
import type { Lived } from "./worlds.ts";

/** The longest that a test file, or worlds, may run, in milliseconds: a mutation may make them run for ever. */
const mostOf = { tests: 120_000, worlds: 600_000 };
/** The seed of the first world. */
const firstSeed = 1;

/** Runs the tests of a mutation, in their order. Returns what noticed it. Undefined: every test passed. */
export async function noticeByTests(copy: Copy, { tests }: Pick<Mutation, "tests">): Promise<string | undefined> {
  for (const test of tests) {
    const jest = ["--require", "./scripts/test-services/built-threads.cjs", "--experimental-vm-modules"];
    const options = ["node_modules/jest/bin/jest.js", "--runInBand", "--bail", "--silent", "--forceExit", test];
    const { code, output } = await run(
      copy,
      ["--disable-warning=ExperimentalWarning", ...jest, ...options],
      mostOf.tests,
    );
    if (code !== 0) {
      const [, title = code === undefined ? "does not end" : "does not run"] = /● (.+)/.exec(output) ?? [];
      return `${test}: ${title.split(" › ").at(-1)}`;
    }
  }
  return undefined;
}

/** Lives worlds with a mutation. Returns what noticed it, and after how many worlds. */
export async function noticeByWorlds(copy: Copy, worlds: number): Promise<{ by: string | undefined; worlds: number }> {
  const { code, output } = await run(
    copy,
    ["test/mutations/worlds.ts", String(firstSeed), String(worlds)],
    mostOf.worlds,
  );
  const line = output.split("\n").findLast((text) => text.startsWith("{"));
  if (line === undefined) {
    return {
      by: code === undefined ? "worlds do not end" : `worlds cannot be lived: ${output.slice(-300)}`,
      worlds: 1,
    };
  }
  const lived = JSON.parse(line) as Lived;
  const [violation] = lived.violations;
  return { by: violation?.split(": ")[0], worlds: lived.worlds };
}

/** Runs Node.js in a copy. An undefined code: it did not end in time. */
async function run(
  { root }: Copy,
  parameters: readonly string[],
  mostMs: number,
): Promise<{ code: number | undefined; output: string }> {
  const child = spawn(process.execPath, parameters, {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: "" },
    timeout: mostMs,
    killSignal: "SIGKILL",
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data: Buffer) => output.push(data));
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code: child.killed ? undefined : (code ?? 1), output: Buffer.concat(output).toString() };
}
