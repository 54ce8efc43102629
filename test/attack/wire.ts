import { Agent, request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { pause } from "../support/pause.ts";

/** One request of an address of this machine: each is a client of its own for the service. */
export interface Ask {
  /** host:port. */
  readonly to: string;
  /** The client's address, in 127.0.0.0/8. */
  readonly from: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** In how many pieces the body is sent: for one there need be no memory. Default: one. */
  readonly pieces?: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Asks, and returns the status once the whole answer was read. 0: there was none. */
export function ask({ to, from, method = "GET", path, headers = {}, body = "", pieces = 1 }: Ask): Promise<number> {
  const [host = "", port] = to.split(":");
  return new Promise((resolve) => {
    const sent = request(
      { host, port: Number(port), method, path, headers, agent, localAddress: from, timeout: 20_000 },
      (response) => {
        response.resume();
        response.once("close", () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
      },
    );
    sent.once("timeout", () => sent.destroy());
    sent.once("error", () => resolve(0));
    const length = Math.ceil(body.length / pieces);
    for (let at = 1; at < pieces; at += 1) {
      sent.write(body.slice((at - 1) * length, at * length));
    }
    sent.end(body.slice((pieces - 1) * length));
  });
}

/** Opens a connection and sends bytes without reading an answer. */
export function open(to: string, from: string, bytes: string | Buffer): Socket {
  const [host = "", port] = to.split(":");
  const socket = connect({ host, port: Number(port), localAddress: from });
  socket.on("error", () => {});
  socket.write(bytes);
  return socket;
}

const emptyMessage = Buffer.alloc(5);

/** Calls of one gRPC connection at once, for so long at most. Resolves when each is answered, or the connection ends. */
export async function callGrpc(
  to: string,
  from: string,
  path: string,
  authorizations: readonly string[],
  { body = emptyMessage, mostMs = 20_000 }: { readonly body?: Buffer; readonly mostMs?: number } = {},
) {
  const [host = "", port] = to.split(":");
  const session = connectHttp2(`http://${to}`, {
    createConnection: () => connect({ host, port: Number(port), localAddress: from }),
  });
  session.on("error", () => {});
  const signal = AbortSignal.timeout(mostMs);
  await Promise.all(
    authorizations.map(
      (authorization) =>
        new Promise<void>((resolve) => {
          const head = {
            ":method": "POST",
            ":path": path,
            "content-type": "application/grpc",
            te: "trailers",
            authorization,
          };
          const call = session.request(head, { signal });
          call.on("error", () => {}).once("close", resolve);
          call.resume().end(body);
        }),
    ),
  );
  session.destroy();
}

/** Keeps connections for a while, and ends them. */
export async function hold(sockets: readonly Socket[], ms: number): Promise<void> {
  const closed = Promise.all(sockets.map((socket) => new Promise((done) => socket.once("close", done))));
  await Promise.race([closed, pause(ms, "an attack lasts so long")]);
  for (const socket of sockets) {
    socket.destroy();
  }
  await closed;
}

/** Closes the connections that are kept for further requests. */
export function endConnections(): void {
  agent.destroy();
}
