import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "./install-package.ts";
import { listening } from "./listening.ts";

/** A running HAProxy. */
export interface Balancer {
  /** Its log so far. */
  readonly log: readonly string[];
  stop(): Promise<void>;
}

/**
 * Starts HAProxy with a configuration that listens on a port of loopback: one from the PATH, else one installed from the
 * distribution's packages where that needs no question.
 */
export async function startHaproxy(configuration: string, port: number): Promise<Balancer> {
  if (findProgram(["haproxy"], "-v", "haproxy") === undefined) {
    throw new Error("this test needs HAProxy: put haproxy on the PATH; tests that need none are run by their paths");
  }
  const folder = mkdtempSync(join(tmpdir(), "tollgate-haproxy-"));
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, configuration);
  const log: string[] = [];
  const balancer = spawn("haproxy", ["-db", "-f", file], { stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [balancer.stdout, balancer.stderr]) {
    stream.on("data", (data: Buffer) => log.push(data.toString()));
  }
  await listening(balancer, port, log);
  return {
    log,
    async stop() {
      const exited = once(balancer, "exit");
      if (balancer.exitCode === null && balancer.kill("SIGTERM")) {
        await exited;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
