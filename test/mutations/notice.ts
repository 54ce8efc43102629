import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Copy } from "./copy.ts";
import type { Mutation } from "./mutation.ts";
import { usualKinds } from "./world-kinds.ts";
import type { Lived } from "./worlds.ts";

/** The longest that a test file, or one world, may run, in milliseconds: a mutation may make them run for ever. */
const testMs = 120_000;
const lastWorldMs = 60_000;
/** The seed of the first world. */
const firstSeed = 1;

/** Runs the tests of a mutation, in their order. Returns what noticed it. Undefined: every test passed. */
export async function noticeByTests(copy: Copy, { tests }: Pick<Mutation, "tests">): Promise<string | undefined> {
  for (const test of tests) {
    const jest = ["--require", "./scripts/test-services/built-threads.cjs", "--experimental-vm-modules"];
    const options = ["node_modules/jest/bin/jest.js", "--runInBand", "--bail", "--silent", "--forceExit", test];
    const { code, output } = await run(copy, ["--disable-warning=ExperimentalWarning", ...jest, ...options], testMs);
    if (code !== 0) {
      const [, title = code === undefined ? "does not end" : "does not run"] = /● (.+)/.exec(output) ?? [];
      const late = /Exceeded timeout/.test(output) ? " (late)" : "";
      return `${test}: ${title.split(" › ").at(-1)}${late}`;
    }
  }
  return undefined;
}

/** Lives worlds with a mutation, for `seconds` at most. Returns what noticed it, and after how many worlds. */
export async function noticeByWorlds(
  copy: Copy,
  { worlds: kinds = usualKinds }: Pick<Mutation, "worlds">,
  { worlds, seconds }: { readonly worlds: number; readonly seconds: number },
): Promise<{ by: string | undefined; worlds: number }> {
  if (kinds.length === 0 || worlds === 0) {
    return { by: undefined, worlds: 0 };
  }
  const { code, output } = await run(
    copy,
    ["test/mutations/worlds.ts", ...[firstSeed, worlds, seconds].map(String), ...kinds],
    seconds * 1000 + lastWorldMs,
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
