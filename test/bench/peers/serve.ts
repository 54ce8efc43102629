import { join } from "node:path";
import { startProgram } from "../measure/processes.ts";
import type { Running, Surroundings } from "../systems/interface.ts";

/** How a peer's process is started and reached. */
interface Served {
  readonly command: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly port: number;
  /** A path that answers 200 once it serves. */
  readonly ready: string;
  readonly headers?: Running["headers"];
  readonly paths: Running["paths"];
}

/** Starts a peer's process and waits until it serves. */
export async function serve({ directory }: Surroundings, served: Served): Promise<Running> {
  const { port, headers = {}, paths } = served;
  const program = await startProgram(served.command, {
    log: join(directory, "peer.log"),
    env: served.env ?? {},
    ready: () =>
      fetch(`http://127.0.0.1:${port}${served.ready}`).then(
        ({ ok }) => ok,
        () => false,
      ),
  });
  return { host: "127.0.0.1", ports: [port], headers, paths, processes: [program.pid], stop: program.stop };
}
