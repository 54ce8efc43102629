import { connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";
import type { BoundName, ListenerName } from "#lib/door/bounds.ts";
import type { DoorOptions } from "#lib/door/door.ts";
import type { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { type Started, stranger } from "./listeners.ts";

const MiB = 1024 * 1024;

/** How to reach a bound of any listener: the door's options, and what a client does. */
export const attacks: Partial<
  Record<BoundName, { options: Partial<DoorOptions>; attack(started: Started, clock: ManualClock): Promise<void> }>
> = {
  connections: {
    options: { limits: { connections: 2, connectionsPerAddress: 100 } },
    attack: openMany(3),
  },
  connections_per_address: {
    options: { limits: { connections: 6, connectionsPerAddress: 3 } },
    attack: openMany(4),
  },
  connection_rate: {
    options: { limits: { connections: 1000, connectionsPerAddress: 100 } },
    async attack({ open }) {
      for (let at = 0; at <= 100; at += 1) {
        const socket = open(stranger);
        await new Promise((done) => socket.once("connect", done));
        socket.destroy();
      }
    },
  },
  idle: {
    options: { limits: { connections: 10, connectionsPerAddress: 10 } },
    async attack(started, clock) {
      await openMany(9)(started);
      await eventually("they are let in", () => started.door.connections.size === 9);
      clock.advance(1000);
      await openMany(1)(started);
    },
  },
  silent: {
    options: {},
    async attack(started, clock) {
      await openMany(1)(started);
      await eventually("it is let in", () => started.door.connections.size === 1);
      clock.advance(15_000);
    },
  },
  head: {
    options: {},
    async attack({ open }) {
      open().write(`GET / HTTP/1.1\r\nhost: t\r\nx: ${"x".repeat(40_000)}\r\n\r\n`);
    },
  },
  pipeline: {
    options: {},
    async attack({ open }) {
      open().write("GET /livez HTTP/1.1\r\nhost: t\r\n\r\n".repeat(400));
    },
  },
  refusals: {
    options: {},
    async attack({ name, open }) {
      const socket = open(stranger);
      if (name === "grpc") {
        callGrpc(socket, "/nowhere", 110);
      } else {
        keepAsking(socket, "GET /nowhere HTTP/1.1\r\nhost: t\r\n\r\n");
      }
    },
  },
  uncounted: {
    options: {},
    async attack({ name, open }) {
      if (name === "grpc") {
        callGrpc(open(stranger), "/grpc.health.v1.Health/Check", 210);
        return;
      }
      keepAsking(open(stranger), uncounted[name] ?? "GET / HTTP/1.1\r\nhost: t\r\n\r\n");
    },
  },
  unwanted: {
    options: {},
    async attack({ open }) {
      for (const socket of [open(stranger), open(stranger)]) {
        socket.write(`PUT /nowhere HTTP/1.1\r\nhost: t\r\ncontent-length: ${6 * MiB}\r\n\r\n`);
        socket.write(Buffer.alloc(6 * MiB));
      }
    },
  },
};

/** What a listener answers without a credential, and that no rate counts, where it is not the first page. */
const uncounted: Partial<Record<ListenerName, string>> = {
  admin: "GET /livez HTTP/1.1\r\nhost: t\r\n\r\n",
  connect:
    "POST /grpc.health.v1.Health/Check HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
};

/** Asks again as soon as an answer has come. */
function keepAsking(socket: Socket, request: string): void {
  socket.on("data", () => socket.write(request)).write(request);
}

function callGrpc(socket: Socket, path: string, calls: number): void {
  const session = connectHttp2("http://t", { createConnection: () => socket }).on("error", () => {});
  for (let at = 0; at < calls; at += 1) {
    const call = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    call
      .on("error", () => {})
      .resume()
      .end(Buffer.alloc(5));
  }
}

function openMany(count: number) {
  return async ({ open }: Started) => {
    const sockets = Array.from({ length: count }, () => open());
    await Promise.all(sockets.map((socket) => new Promise((done) => socket.once("connect", done).once("close", done))));
  };
}
