/**
 * Clients that hold answers open, in a process of their own. Told to open some, it answers when every one has the head
 * of its answer; told to close them, when all connections are gone.
 */
import { connect, createServer, type Socket } from "node:net";
import { encodeRequest, type HttpRequest } from "../load/encode-request.ts";
import { listenAndReport } from "../measure/processes.ts";

/** What to open. */
export interface Opening extends HttpRequest {
  readonly port: number;
  readonly count: number;
  /** Whether they read on after the head, or leave everything to pile up on the way to them. */
  readonly read: boolean;
}

/** What came of it: the reason why one could not be opened, or nothing. */
export interface Opened {
  readonly error?: string;
}

/** Connections that are being opened at the same time. */
const atOnce = 32;
const sockets: Socket[] = [];

async function open(opening: Opening): Promise<Opened> {
  const request = encodeRequest(opening, opening.port);
  try {
    for (let left = opening.count; left > 0; left -= atOnce) {
      await Promise.all(Array.from({ length: Math.min(left, atOnce) }, () => openOne(opening, request)));
    }
    return {};
  } catch (error) {
    return { error: String(error) };
  }
}

function openOne({ host, port, read }: Opening, request: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    sockets.push(socket);
    socket.once("error", reject);
    socket.once("data", (bytes: Buffer) => {
      const head = bytes.toString("latin1", 0, 300);
      if (!head.startsWith("HTTP/1.1 200")) {
        return reject(new Error(head));
      }
      if (read) {
        socket.resume();
      } else {
        socket.pause();
      }
      socket.on("error", () => {}); // the server may give a slow reader up
      resolve();
    });
    socket.write(request);
  });
}

async function close(): Promise<Opened> {
  await Promise.all(
    sockets.splice(0).map((socket) => {
      const closed = new Promise((resolve) => (socket.closed ? resolve(undefined) : socket.once("close", resolve)));
      socket.destroy();
      return closed;
    }),
  );
  return {};
}

process.on("message", async (order: Opening | "close") => {
  process.send?.(order === "close" ? await close() : await open(order));
});
listenAndReport(createServer());
