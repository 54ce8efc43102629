import { createServer, type Server } from "node:net";
import { Server as TlsServer } from "node:tls";
import { parseAddress } from "../../net/address.ts";
import { listen, toListenError } from "../../net/listen.ts";
import { claimPort } from "../../net/port-claim.ts";
import { stopListening } from "./stop-listening.ts";

/*
 * Wrong: a socket that listens accepts one connection in a turn of the event loop. Under load a turn takes milliseconds, so
 * that newcomers wait for seconds where nobody sees them, and are never refused: at 1.2 × what a core can serve, 2 s.
 * Upstream: libuv 1.52 (`uv__server_io` in src/unix/stream.c; libuv/libuv#3696 made it so on purpose).
 * Still needed while test/lib/door/workarounds/wide-listening.test.ts sees one socket accept one connection a turn.
 * Delete when a server can accept several.
 */

const socketsOfPort = 8;

/**
 * How many sockets listen for a server, and so the connections that it accepts in a turn: one where a handshake makes each as
 * dear as ten requests, and where sockets cannot share a port.
 */
export function socketsOf(server: Server): number {
  return server instanceof TlsServer || process.platform !== "linux" ? 1 : socketsOfPort;
}

/** A server that listens. */
export interface Listening {
  /** Includes the actual port. */
  readonly address: string;
  /** Takes no new connections, leaves the open ones alone, and resolves once they have ended. */
  stop(): Promise<void>;
}

/**
 * Listens, as `listen` of lib/net, on as many sockets as a server has. They are all of this process: no other may listen there
 * unless both say `reusePort`.
 */
export async function listenWidely(
  server: Server,
  address: string,
  setting: string,
  reusePort: boolean,
): Promise<Listening> {
  const sockets = socketsOf(server);
  if (sockets === 1) {
    return toListening(await listen(server, address, setting, reusePort), [server], () => {});
  }
  const servers = [server];
  let release = () => {};
  try {
    if (!reusePort && parseAddress(address)?.port !== 0) {
      await probe(address, setting);
    }
    const at = await listen(server, address, setting, true);
    release = await claim(at, setting, reusePort);
    while (servers.length < sockets) {
      servers.push(await listenBeside(server, at, setting));
    }
    return toListening(at, servers, release);
  } catch (error) {
    release();
    await Promise.all(servers.map(stopListening));
    throw error;
  }
}

/** Fails where another socket listens, also where it would share its port. */
async function probe(address: string, setting: string): Promise<void> {
  const first = createServer();
  await listen(first, address, setting);
  await stopListening(first);
}

/** Fails where one process has a port alone. Keeps it from others, unless it is shared, until what it returns is called. */
async function claim(address: string, setting: string, isShared: boolean): Promise<() => void> {
  const release = await claimPort(address).catch((error) => {
    throw toListenError(error, address, setting);
  });
  if (!isShared) {
    return release;
  }
  release();
  return () => {};
}

/** Has a socket of its own accept for a server, with the options that it has for its connections. */
async function listenBeside(server: Server, address: string, setting: string): Promise<Server> {
  const { allowHalfOpen } = server as { readonly allowHalfOpen?: boolean };
  const beside = createServer({ noDelay: true, ...(allowHalfOpen !== undefined && { allowHalfOpen }) });
  beside.on("connection", (socket) => server.emit("connection", socket));
  await listen(beside, address, setting, true);
  return beside;
}

function toListening(address: string, servers: readonly Server[], release: () => void): Listening {
  return {
    address,
    async stop() {
      release();
      await Promise.all(servers.map(stopListening));
    },
  };
}
