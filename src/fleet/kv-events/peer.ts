import { connect, type Socket } from "node:net";
import type { Clock } from "../../../lib/time/clock.ts";
import { encodeMessage, encodeReady, type Frame, FrameReader, greeting, longestFrame } from "./frames.ts";

/** The most parts of a message. */
const mostParts = 8;
/** Milliseconds within which a peer must accept the connection and greet, however often it sends something. */
const greetingMs = 5000;
/** Milliseconds of silence after which TCP probes the connection. */
const probeMs = 15_000;

/** The address of a socket. */
export interface PeerAddress {
  readonly host: string;
  readonly port: number;
}

/** Receives a connection's events. */
export interface PeerListener {
  /** Both sides have sent their greetings. */
  opened(peer: Peer): void;
  heard(parts: readonly Buffer[]): void;
  /** The connection has ended. Not called when we closed it. */
  closed(error: Error): void;
}

/** A connection to a remote ZeroMQ socket. */
export class Peer {
  readonly #socket: Socket;
  readonly #listener: PeerListener;
  readonly #reader = new FrameReader();
  #parts: Buffer[] = [];
  #bytes = 0;
  #isOpen = false;
  #isOver = false;
  readonly #cancelGreeting: () => void;

  constructor(type: "SUB" | "DEALER", { host, port }: PeerAddress, clock: Clock, listener: PeerListener) {
    this.#listener = listener;
    this.#socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: probeMs });
    this.#socket.unref();
    this.#cancelGreeting = clock.after(greetingMs, () => this.#fail(new Error("it did not greet in time")));
    this.#socket.on("connect", () => this.#socket.write(Buffer.concat([greeting, encodeReady(type)])));
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#socket.on("error", (error) => this.#fail(error));
    this.#socket.on("close", () => this.#fail(new Error("it closed the connection")));
  }

  /** Sends a message. Each part has at most 255 bytes. */
  send(...parts: readonly Uint8Array[]): void {
    this.#socket.write(encodeMessage(parts));
  }

  close(): void {
    this.#isOver = true;
    this.#cancelGreeting();
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.read(chunk)) {
        this.#takeFrame(frame);
        if (this.#isOver) {
          return;
        }
      }
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #takeFrame({ isCommand, hasMore, body }: Frame): void {
    if (isCommand) {
      this.#takeCommand(body);
      return;
    }
    this.#parts.push(body);
    this.#bytes += body.length;
    if (this.#parts.length > mostParts || this.#bytes > longestFrame) {
      throw new Error("it sent a message with too many parts, or too long a one");
    }
    if (!hasMore) {
      const parts = this.#parts;
      this.#parts = [];
      this.#bytes = 0;
      this.#listener.heard(parts);
    }
  }

  #takeCommand(body: Buffer): void {
    const name = body.toString("latin1", 1, 1 + (body[0] ?? 0));
    if (name === "ERROR") {
      throw new Error(`it refused: ${body.toString("utf8", 7, 7 + 200)}`);
    }
    if (name === "READY" && !this.#isOpen) {
      this.#isOpen = true;
      this.#cancelGreeting();
      this.#listener.opened(this);
    }
  }

  #fail(error: Error): void {
    if (!this.#isOver) {
      this.close();
      this.#listener.closed(error);
    }
  }
}
