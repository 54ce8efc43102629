import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Copy } from "./copy.ts";
import type { Mutation } from "./mutation.ts";
import { usualKinds } from "./world-kinds.ts";
import type { Lived } from "./worlds.ts";

/**
 * The CPU time that a test file, or worlds beyond what they are given, may take, in seconds: a mutation may make them run
 * for ever. On a busy machine that takes longer.
 */
const testCpuSeconds = 120;
const lastWorldCpuSeconds = 60;
/** The longest that anything may run, in milliseconds: a mutation may make it wait for ever. */
const mostMs = 900_000;
/** The seed of the first world. */
const firstSeed = 1;

/** What noticed a mutation. */
export interface Notice {
  /** Undefined: nothing. */
  readonly by: string | undefined;
  /** Whether it only ran out of time: a busy machine can cause that, too. */
  readonly isLate: boolean;
}

/** Runs the tests of a mutation, in their order, until one fails before its time is over. */
export async function noticeByTests(copy: Copy, { tests }: Pick<Mutation, "tests">): Promise<Notice> {
  let late: Notice = { by: undefined, isLate: false };
  for (const test of tests) {
    const jest = ["--require", "./scripts/test-services/built-threads.cjs"];
    const options = ["node_modules/jest/bin/jest.js", "--runInBand", "--bail", "--silent", "--forceExit", test];
    const { code, output } = await run(
      copy,
      ["--disable-warning=ExperimentalWarning", ...jest, ...options],
      testCpuSeconds,
    );
    if (code !== 0) {
      const [, title = code === undefined ? "does not end" : "does not run"] = /● (.+)/.exec(output) ?? [];
      const isLate = code === undefined || /Exceeded timeout/.test(output);
      const notice = { by: `${test}: ${title.split(" › ").at(-1)}${isLate ? " (late)" : ""}`, isLate };
      if (!isLate) {
        return notice;
      }
      late = notice;
    }
  }
  return late;
}

/** Lives worlds with a mutation, for so many seconds of CPU time at most. Also returns how many were lived. */
export async function noticeByWorlds(
  copy: Copy,
  { worlds: kinds = usualKinds }: Pick<Mutation, "worlds">,
  { worlds, seconds }: { readonly worlds: number; readonly seconds: number },
): Promise<Notice & { readonly worlds: number }> {
  if (kinds.length === 0 || worlds === 0) {
    return { by: undefined, isLate: false, worlds: 0 };
  }
  const { code, output } = await run(
    copy,
    ["test/mutations/worlds.ts", ...[firstSeed, worlds, seconds].map(String), ...kinds],
    seconds + lastWorldCpuSeconds,
  );
  const line = output.split("\n").findLast((text) => text.startsWith("{"));
  if (line === undefined) {
    const isLate = code === undefined;
    return { by: isLate ? "worlds do not end" : `worlds cannot be lived: ${output.slice(-300)}`, isLate, worlds: 1 };
  }
  const lived = JSON.parse(line) as Lived;
  const [violation] = lived.violations;
  return { by: violation?.split(": ")[0], isLate: false, worlds: lived.worlds };
}

/** Runs Node.js in a copy. An undefined code: it did not end in time. */
async function run(
  { root }: Copy,
  parameters: readonly string[],
  cpuSeconds: number,
): Promise<{ code: number | undefined; output: string }> {
  const child = spawn("sh", ["-c", `ulimit -t ${cpuSeconds}; exec "$0" "$@"`, process.execPath, ...parameters], {
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
  return { code: code ?? undefined, output: Buffer.concat(output).toString() };
}
