import { createServer } from "node:net";
import { parseAddress } from "#lib/net/address.ts";
import { isAlive, readRunning } from "#src/config/data-dir/running-core.ts";
import { listPorts, maxBasePort, movePorts } from "#src/config/ports/move-ports.ts";
import type { Config } from "#src/config/schema.ts";

type Listen = Config["listen"];

/** How long a process on one of our ports may take to answer, in milliseconds. */
const askMs = 1000;

/** Adds to the error of a taken port who has it, and how `--port` helps. Returns other errors as they are. */
export async function explainTakenPort(error: unknown, listen: Listen, dataDir: string): Promise<unknown> {
  const { code, port } = ((error as Error | undefined)?.cause ?? {}) as { code?: string; port?: number };
  if (!(error instanceof Error) || code !== "EADDRINUSE") {
    return error;
  }
  if (listen.reuse_port && parseAddress(listen.http)?.port === port) {
    return new Error(`${error.message} Only processes of one user that all set listen.reuse_port share port ${port}.`);
  }
  const running = await readRunning(dataDir).catch(() => undefined);
  if (
    running !== undefined &&
    isAlive(running) &&
    Object.values(running).some((at) => String(at).endsWith(`:${port}`))
  ) {
    const where = running.http === undefined ? `gRPC ${running.grpc}` : `http://${running.http}`;
    return new Error(
      `${error.message} Port ${port} is that of the Tollgate that already runs on this data directory (process ${running.pid}, ${where}); a second one needs a TOLLGATE_DATA_DIR of its own and --port.`,
    );
  }
  const owner = (await isTollgate(listen)) ? "a Tollgate of another data directory" : "another process";
  const free = await findFreeBase(listen);
  const advice = free === undefined ? "" : `, such as --port ${free}`;
  return new Error(
    `${error.message} Port ${port} is taken by ${owner}: start with --port, which moves all ports together${advice}.`,
  );
}

/** Whether a Tollgate answers at one of these addresses. */
async function isTollgate({ http, admin }: Listen): Promise<boolean> {
  const answers = await Promise.all([
    ask(`http://${http}/openapi.json`, /"title": ?"Tollgate"/),
    ask(`http://${admin}/metrics`, /^tollgate_/m),
  ]);
  return answers.includes(true);
}

async function ask(url: string, sign: RegExp): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(askMs) });
    return sign.test(await response.text());
  } catch {
    return false;
  }
}

/** A base port from which all listeners find free ports. Undefined: none was found near the usual one. */
async function findFreeBase(listen: Listen): Promise<number | undefined> {
  const [usual = 0] = listPorts(listen);
  for (let base = usual + 10; base <= Math.min(usual + 200, maxBasePort); base += 10) {
    const free = await Promise.all(listPorts(movePorts(listen, base)).map(isFree));
    if (!free.includes(false)) {
      return base;
    }
  }
  return undefined;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
