import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { encode } from "@msgpack/msgpack";
import { FrameReader, greeting } from "../../../src/fleet/kv-events/frames.ts";

/** A frame as libzmq writes it: with a long size from 256 bytes on. */
export function frame(body: Uint8Array, { hasMore = false, isCommand = false } = {}): Buffer {
  const flags = Number(hasMore) | (Number(isCommand) << 2);
  if (body.length < 256) {
    return Buffer.concat([Buffer.from([flags, body.length]), body]);
  }
  const head = Buffer.alloc(9);
  head[0] = flags | 2;
  head.writeBigUInt64BE(BigInt(body.length), 1);
  return Buffer.concat([head, body]);
}

export const message = (parts: readonly Uint8Array[]): Buffer =>
  Buffer.concat(parts.map((part, at) => frame(part, { hasMore: at < parts.length - 1 })));

export const ready = (type: string): Buffer =>
  frame(Buffer.concat([Buffer.from(`\x05READY\x0bSocket-Type\0\0\0${String.fromCharCode(type.length)}${type}`)]), {
    isCommand: true,
  });

const counter = (number: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(number);
  return bytes;
};

/** Publishes batches as an engine does: from one socket, and again from another one when asked. */
export class Publisher implements AsyncDisposable {
  /** Batches that are kept to be sent again. */
  batches: Buffer[] = [];
  /** The number from which each replay was asked for. */
  readonly asked: bigint[] = [];
  /** Subscriptions so far, as their topics. */
  readonly topics: string[] = [];
  readonly #subscribers = new Set<Socket>();
  readonly #sockets = new Set<Socket>();
  readonly #events: Server;
  readonly #replays: Server;

  private constructor() {
    this.#events = createServer((socket) =>
      this.#greet(socket, "PUB", ([topic]) => {
        this.topics.push((topic as Buffer).toString("latin1", 1));
        this.#subscribers.add(socket);
      }),
    );
    this.#replays = createServer((socket) =>
      this.#greet(socket, "ROUTER", ([, from]) => {
        const start = (from as Buffer).readBigUInt64BE();
        this.asked.push(start);
        for (const [number, batch] of this.batches.entries()) {
          if (number >= start) {
            socket.write(message([Buffer.alloc(0), counter(BigInt(number)), batch]));
          }
        }
        socket.write(message([Buffer.alloc(0), counter(-1n), Buffer.alloc(0)]));
      }),
    );
  }

  static async start(): Promise<Publisher> {
    const publisher = new Publisher();
    for (const server of [publisher.#events, publisher.#replays]) {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    }
    return publisher;
  }

  get port(): number {
    return (this.#events.address() as { port: number }).port;
  }

  get replayPort(): number {
    return (this.#replays.address() as { port: number }).port;
  }

  /** Publishes a batch; one that is not heard is only kept. */
  publish(events: readonly unknown[], { isHeard = true } = {}): void {
    const number = BigInt(this.batches.length);
    const batch = Buffer.from(encode([1.5, events], { useBigInt64: true }));
    this.batches.push(batch);
    if (isHeard) {
      this.send([Buffer.from("kv"), counter(number), batch]);
    }
  }

  /** Sends a message to all subscribers. */
  send(parts: readonly Uint8Array[]): void {
    for (const socket of this.#subscribers) {
      socket.write(message(parts));
    }
  }

  /** Starts anew: what was published before is forgotten, and all connections are lost. */
  restart(): void {
    this.batches = [];
    this.disconnect();
  }

  disconnect(): void {
    for (const socket of this.#sockets) {
      socket.destroy();
    }
    this.#sockets.clear();
    this.#subscribers.clear();
  }

  #greet(socket: Socket, type: string, take: (parts: Buffer[]) => void): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.write(Buffer.concat([greeting, ready(type)]));
    const reader = new FrameReader();
    let parts: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => {
      for (const { isCommand, hasMore, body } of reader.read(chunk)) {
        if (isCommand) {
          continue;
        }
        parts.push(body);
        if (!hasMore) {
          take(parts);
          parts = [];
        }
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.disconnect();
    this.#events.close();
    this.#replays.close();
  }
}
