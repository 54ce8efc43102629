import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { installPackage } from "./install-package.ts";
import type { TestService } from "./postgres.ts";

const names = ["redis-server", "valkey-server"];

/**
 * A real Redis or Valkey for the tests: TOLLGATE_TEST_REDIS_URL, else a server from the PATH, else one
 * installed from the distribution's packages where that needs no question.
 */
export async function startRedis(): Promise<TestService> {
  const given = process.env.TOLLGATE_TEST_REDIS_URL;
  if (given !== undefined) {
    return { url: given, stop: async () => {} };
  }
  return startOwnRedis(await freePort());
}

/** A server that keeps nothing when it ends. */
export async function startOwnRedis(port: number): Promise<TestService & { readonly process: ChildProcess }> {
  const program = installed() ?? install();
  const server = spawn(program, ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"], {
    stdio: "ignore",
  });
  await listening(server, port);
  return {
    url: `redis://127.0.0.1:${port}`,
    process: server,
    async stop() {
      if (server.exitCode !== null || server.signalCode !== null) {
        return;
      }
      server.kill();
      await once(server, "exit");
    },
  };
}

const installed = () => names.find((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0);

function install(): string {
  installPackage("redis-server");
  const program = installed();
  if (program !== undefined) {
    return program;
  }
  console.error(
    "The tests need Redis or Valkey: put redis-server or valkey-server on the PATH, or set TOLLGATE_TEST_REDIS_URL.",
  );
  process.exit(1);
}

async function listening(server: ChildProcess, port: number): Promise<void> {
  for (let attempt = 0; attempt < 200 && server.exitCode === null; attempt++) {
    const socket = connect(port, "127.0.0.1");
    const open = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) {
      return;
    }
    await sleep(50);
  }
  throw new Error(`${server.spawnfile} did not come up on port ${port}`);
}
