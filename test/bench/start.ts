import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { buildProgram } from "../../scripts/test-services/program.ts";
import { spread } from "./report/statistics.ts";
import { short } from "./report/table.ts";
import type { Bench, Figure, Scenario } from "./scenario.ts";

const clone = fileURLToPath(new URL("../../bin/tollgate.js", import.meta.url));
/** Has a process tell at its end, on its fourth stream, the CPU time that it used. */
const tellCpu = `data:text/javascript,import{writeSync}from"node:fs";process.on("exit",()=>{const{user,system}=process.cpuUsage();writeSync(3,String(user+system))})`;

/** Milliseconds; a start is one with Node.js's compile cache filled. */
const limits = {
  "CPU of --version": 120,
  "CPU of an admin command": 200,
  "start to ready": 1000,
};

/** What the command line costs, and how long a start takes: as npm installs it, and in a clone after `npm ci`. */
export const start: Scenario = {
  name: "start",
  shows: "CPU of --version and of an admin command, and time from start to ready, with a warm compile cache",
  async run(bench) {
    const program = await buildProgram();
    try {
      const installed = await measure(bench, "installed", program.launcher);
      const cloned = await measure(bench, "clone", clone);
      return {
        figures: Object.entries(limits).flatMap(([name, limit], at): Figure[] => [
          { ...common, name, value: spread(installed[at] ?? []), limit },
          { ...common, name: `${name}, in a clone`, value: spread(cloned[at] ?? []), limit },
        ]),
      };
    } finally {
      await program.remove();
    }
  },
};

const common = { scenario: "start", unit: "ms", better: "lower" } as const;

/** The values of all rounds, for each of the limits. */
async function measure(bench: Bench, name: string, launcher: string): Promise<number[][]> {
  const figures = Object.keys(limits).map(() => [] as number[]);
  await measureRound(bench, name, launcher); // fills the compile cache, and the data directory
  for (let round = 0; round < bench.options.rounds; round++) {
    for (const [at, value] of (await measureRound(bench, name, launcher)).entries()) {
      figures[at]?.push(value);
    }
  }
  return figures;
}

/** One of each, in the order of the limits. */
async function measureRound({ directory, progress }: Bench, name: string, launcher: string): Promise<number[]> {
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: join(directory, `compiled-${name}`),
    TOLLGATE_DATA_DIR: join(directory, `data-${name}`),
  };
  const startedAt = performance.now();
  const service = spawn(process.execPath, [launcher, "--port", "0", "--log", "json"], {
    cwd: directory,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(service, "exit");
  for await (const line of createInterface(service.stdout)) {
    if (line.includes('"msg":"tollgate ready"')) {
      break;
    }
  }
  const readyMs = performance.now() - startedAt;
  service.stdout.resume();
  const version = await cpuOf(launcher, ["--version"], directory, env);
  const admin = await cpuOf(launcher, ["accounts", "list"], directory, env);
  service.kill("SIGTERM");
  await exited;
  progress(
    `start, ${name}: --version ${short(version)} ms, an admin command ${short(admin)} ms, ready after ${short(readyMs)} ms`,
  );
  return [version, admin, readyMs];
}

/** Milliseconds of CPU that a command uses, from its start to its end. Throws when it fails. */
async function cpuOf(launcher: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, ["--import", tellCpu, launcher, ...args], {
    cwd,
    env,
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  let microseconds = "";
  (child.stdio[3] as Readable).on("data", (data: Buffer) => {
    microseconds += data;
  });
  const [code] = await once(child, "close");
  if (code !== 0) {
    throw new Error(`tollgate ${args.join(" ")} ended with ${code}`);
  }
  return Number(microseconds) / 1000;
}
