// Starts Tollgate scaled out on this machine: PostgreSQL, Redis or Valkey, a simulated GPU server, and processes of
// `serve` that share an HTTP port, two unless a number is given, from deploy/one-machine. Ctrl-C ends them all.
// Their data is gone then: this is for trying out what happens when a part breaks.
import { type ChildProcess, fork, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ServiceUrls } from "./services.ts";

/** Where the listeners of the first process begin; those of the next are ten ports on. */
const firstPort = 18_010;
const count = Number(process.argv[2] ?? 2);
const root = fileURLToPath(new URL("../..", import.meta.url));
const dataDir = await mkdtemp(join(tmpdir(), "tollgate-one-machine-"));
const stops: (() => Promise<void>)[] = [() => rm(dataDir, { recursive: true, force: true })];

async function start(name: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, ["bin/tollgate.js", ...args, "--log", "json"], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "inherit", "ipc"], // a process whose parent was killed ends too
    detached: true, // Ctrl-C comes to this process alone, which ends the others in order
  });
  const ended = once(child, "exit");
  stops.push(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
    }
    await ended;
  });
  const ready = Promise.withResolvers<void>();
  createInterface(child.stdout as NodeJS.ReadableStream).on("line", (line) => {
    if (line.includes('"msg":"tollgate ready"')) {
      ready.resolve();
    } else if (!line.includes('"level":30')) {
      console.log(`${name}: ${line}`);
    }
  });
  void ended.then(([code, signal]) => {
    console.log(`${name} ended with ${code ?? signal}`);
    ready.reject(new Error(`${name} does not start`));
  });
  await ready.promise;
  console.log(`${name.padEnd(10)} process ${String(child.pid).padEnd(8)} tollgate ${args.join(" ")}`);
}

async function startServices(): Promise<ServiceUrls> {
  const program = fileURLToPath(new URL("services.ts", import.meta.url));
  const child = fork(program, { detached: true });
  const ended = once(child, "exit");
  stops.push(async () => {
    if (child.connected) {
      child.disconnect();
    }
    await ended;
  });
  const failed = ended.then(() => Promise.reject(new Error("PostgreSQL and Redis do not start")));
  failed.catch(() => {}); // also when they end in order
  const [urls] = (await Promise.race([once(child, "message"), failed])) as [ServiceUrls];
  return urls;
}

async function stop(): Promise<void> {
  for (const one of stops.toReversed()) {
    await one();
  }
}

try {
  const { postgres, redis, processes } = await startServices();
  console.log(`PostgreSQL process ${processes.postgres.padEnd(8)} ${postgres}`);
  console.log(`Redis      process ${processes.redis.padEnd(8)} ${redis}`);
  const secrets = {
    TOLLGATE_STORAGE_URL: postgres,
    TOLLGATE_RATE_LIMIT_URL: redis,
    TOLLGATE_OPERATOR_TOKEN: randomBytes(32).toString("hex"),
    TOLLGATE_KEY_PEPPER: randomBytes(32).toString("hex"),
  };
  const env = { ...process.env, TOLLGATE_DATA_DIR: dataDir };
  await start("simulator", env, "sim", "--port", "8000");
  const file = "deploy/one-machine/tollgate.yaml";
  const ports = Array.from({ length: count }, (_, at) => firstPort + 10 * at);
  for (const [at, port] of ports.entries()) {
    await start(`serve ${at + 1}`, { ...env, ...secrets }, "serve", "--config", file, "--port", String(port));
  }
  const all = (offset: number) => ports.map((port) => `127.0.0.1:${port + offset}`).join("  ");
  console.log(`
all serve   http://127.0.0.1:8080
consoles    ${all(1)}
gRPC        ${all(2)}
metrics     ${all(4)}

Administration, in another shell:

  export TOLLGATE_OPERATOR_TOKEN=${secrets.TOLLGATE_OPERATOR_TOKEN}
  npx tollgate accounts create --name me --core 127.0.0.1:${firstPort + 2}
`);
  await Promise.race(["SIGINT", "SIGTERM"].map((name) => once(process, name)));
  console.log("ending");
} finally {
  await stop();
}
