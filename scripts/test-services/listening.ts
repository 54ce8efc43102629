import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Waits until a server listens on a port of loopback. Throws where it ends before, or takes ten seconds. `log`: of the server. */
export async function listening(server: ChildProcess, port: number, log: readonly string[] = []): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (performance.now() < deadline && server.exitCode === null) {
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
  throw new Error([`${server.spawnfile} did not come up on port ${port}`, ...log].join("\n"));
}
