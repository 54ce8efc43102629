import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "./free-port.ts";
import { findProgram } from "./install-package.ts";
import { listening } from "./listening.ts";
import type { TestService } from "./postgres.ts";

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
  const program = findProgram(["redis-server", "valkey-server"], "--version", "redis-server") ?? giveUp();
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

function giveUp(): never {
  console.error(
    "The tests need Redis or Valkey: put redis-server or valkey-server on the PATH, or set TOLLGATE_TEST_REDIS_URL.",
  );
  process.exit(1);
}
