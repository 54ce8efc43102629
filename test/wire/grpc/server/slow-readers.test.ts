import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import type { ListenerName } from "#lib/door/bounds.ts";
import { Door as Way } from "#lib/door/door.ts";
import { startConnectServer } from "#src/wire/grpc/server/http/connect-server.ts";
import type { ListeningServer, ServerOptions } from "#src/wire/grpc/server/listening-server.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { startConsoleCalls } from "./console-calls.ts";

// Clients of the core's ports that ask for much and read nothing of it.

const MiB = 1024 * 1024;
const path = `/${EmbeddingsService.typeName}/Embed`;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

/** A call of a client that reads its answer, or nothing of it. */
interface Call {
  readonly isClosed: () => boolean;
  /** Resolves with the bytes that came before the other side closed. */
  readonly end: Promise<number>;
}

interface Door {
  readonly name: string;
  readonly listener: ListenerName;
  start(options: ServerOptions): Promise<ListeningServer>;
  call(address: string, isReading: boolean): Call;
}

const grpcDoor: Door = {
  name: "gRPC",
  listener: "grpc",
  start: startGrpcServer,
  call(address, isReading) {
    const settings = { initialWindowSize: isReading ? 65_535 : 0 };
    const session = connectHttp2(`http://${address}`, { settings });
    session.on("error", () => {});
    closing.push(() => session.destroy());
    const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
    const stream = session.request(headers).on("error", () => {});
    let bytes = 0;
    stream.on("data", ({ length }: Buffer) => {
      bytes += length;
    });
    stream.end(Buffer.alloc(5));
    return { isClosed: () => stream.closed, end: once(stream, "close").then(() => bytes) };
  },
};

const connectDoor: Door = {
  name: "Connect",
  listener: "connect",
  start: startConnectServer,
  call(address, isReading) {
    const [host, port] = address.split(":");
    const socket = connectTcp({ port: Number(port), host: String(host) }).on("error", () => {});
    closing.push(() => socket.destroy());
    const end = isReading ? "connection: close\r\n" : "";
    const head = `POST ${path} HTTP/1.1\r\nhost: t\r\ncontent-type: application/proto\r\ncontent-length: 0\r\n${end}\r\n`;
    socket.write(head);
    let bytes = 0;
    socket.on("data", ({ length }: Buffer) => {
      bytes += length;
    });
    if (!isReading) {
      socket.pause();
    }
    return { isClosed: () => socket.closed, end: once(socket, "close").then(() => bytes) };
  },
};

/** The console's port, which takes calls as the Connect port does. */
const consoleDoor: Door = { ...connectDoor, name: "the console", listener: "console", start: startConsoleCalls };

async function start(door: Door, mostBytes: number) {
  const clock = new ManualClock();
  const cut: number[] = [];
  const refused: string[] = [];
  const way: Way = new Way({
    ...{ listener: door.listener, clock, unreadBytes: mostBytes },
    onRefused(listener, bound) {
      cut.push(way.unread.bytes);
      refused.push(`${listener} ${bound}`);
    },
  });
  const { unread } = way;
  // Longer than what the kernel keeps for two sockets.
  const vectors = Array.from({ length: 15 }, () => new Uint8Array(MiB));
  const services = [registration(EmbeddingsService, { embed: () => ({ vectors }) })];
  const server = await door.start({ address: "127.0.0.1:0", services, interceptors: [], door: way });
  closing.push(() => server.stop(0));
  return { address: server.address, clock, unread, cut, refused };
}

describe.each([grpcDoor, connectDoor, consoleDoor])("over $name", (door) => {
  test("an answer that nobody reads is kept for a bounded time", async () => {
    const { address, clock, unread, cut, refused } = await start(door, 64 * MiB);
    door.call(address, false);
    await eventually("the answer waits", () => unread.bytes >= 15 * MiB);
    for (let second = 0; second < 59; second++) {
      clock.advance(1000);
    }
    expect(cut).toEqual([]);
    for (let second = 0; second < 300; second++) {
      clock.advance(1000);
    }
    expect([refused, unread.bytes]).toEqual([[`${door.listener} slow_reader`], 0]);
  });

  test("unread answers take bounded memory, the oldest gives way, and who reads gets its own", async () => {
    const { address, unread, cut } = await start(door, 40 * MiB);
    for (let calls = 1; calls <= 4; calls++) {
      door.call(address, false);
      await eventually("its answer waits", () => unread.bytes + cut.length * 15 * MiB >= calls * 15 * MiB);
      expect(unread.bytes).toBeLessThanOrEqual(40 * MiB);
    }
    expect(cut).toHaveLength(2);
    expect(await door.call(address, true).end).toBeGreaterThan(15 * MiB);
  });

  test("what was read, or left, waits no more", async () => {
    const { address, unread, clock } = await start(door, 64 * MiB);
    expect(await door.call(address, true).end).toBeGreaterThan(15 * MiB);
    door.call(address, false);
    await eventually("the answer waits", () => unread.bytes >= 15 * MiB);
    closing.pop()?.();
    await eventually("nothing waits", () => unread.bytes === 0);
    clock.advance(1000);
    expect(clock.pending).toBe(0);
  });
});
