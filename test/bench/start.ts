import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { spread } from "./report/statistics.ts";
import { short } from "./report/table.ts";
import type { Bench, Figure, Scenario } from "./scenario.ts";

const launcher = fileURLToPath(new URL("../../bin/tollgate.js", import.meta.url));
/** Has a process tell at its end, on its fourth stream, the CPU time that it used. */
const tellCpu = `data:text/javascript,import{writeSync}from"node:fs";process.on("exit",()=>{const{user,system}=process.cpuUsage();writeSync(3,String(user+system))})`;

/** Milliseconds; a start is one with Node.js's compile cache filled. */
const limits = {
  "CPU of --version": 120,
  "CPU of an admin command": 200,
  "start to ready": 1500,
};

/** What the command line costs, and how long a start takes. */
export const start: Scenario = {
  name: "start",
  shows: "CPU of --version and of an admin command, and time from start to ready, with a warm compile cache",
  async run(bench) {
    const figures = Object.keys(limits).map(() => [] as number[]);
    await measureRound(bench); // fills the compile cache, and the data directory
    for (let round = 0; round < bench.options.rounds; round++) {
      for (const [at, value] of (await measureRound(bench)).entries()) {
        figures[at]?.push(value);
      }
    }
    return {
      figures: Object.entries(limits).map(([name, limit], at): Figure => {
        const value = spread(figures[at] ?? []);
        return { scenario: "start", name, unit: "ms", value, better: "lower", limit };
      }),
    };
  },
};

/** One of each, in the order of the limits. */
async function measureRound({ directory, progress }: Bench): Promise<number[]> {
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: join(directory, "compiled"),
    TOLLGATE_DATA_DIR: join(directory, "data"),
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
  const version = await cpuOf(["--version"], directory, env);
  const admin = await cpuOf(["accounts", "list"], directory, env);
  service.kill("SIGTERM");
  await exited;
  progress(
    `start: --version ${short(version)} ms, an admin command ${short(admin)} ms, ready after ${short(readyMs)} ms`,
  );
  return [version, admin, readyMs];
}

/** Milliseconds of CPU that a command uses, from its start to its end. Throws when it fails. */
async function cpuOf(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
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
