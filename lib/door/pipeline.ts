import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Door } from "./door.ts";

/** The most requests that may wait on one connection while an earlier one is answered. */
const mostWaiting = 128;
/** The most requests that may wait on all connections together. Each takes about 5 KB. */
const mostWaitingInAll = 4096;

type Turn = readonly [request: IncomingMessage, response: ServerResponse];

/** One connection. */
interface Line {
  running: Turn | undefined;
  readonly waiting: Turn[];
  /** Called when no request runs or waits any more. */
  afterwards: (() => void) | undefined;
}

/**
 * Answers the requests of a connection one at a time. Without it, Node.js starts all requests that a client sends in
 * one piece, and keeps their answers for a client that never reads them. A connection with too many waiting requests is
 * closed.
 */
export class Pipeline {
  readonly #listener: RequestListener;
  readonly #door: Pick<Door, "refused" | "connections">;
  readonly #lines = new WeakMap<Duplex, Line>();
  #waitingInAll = 0;

  constructor(listener: RequestListener, door: Pick<Door, "refused" | "connections">) {
    this.#listener = listener;
    this.#door = door;
  }

  /** Starts a request, or queues it behind earlier ones. */
  readonly serve: RequestListener = (request, response) => {
    const { socket } = request;
    let line = this.#lines.get(socket);
    if (line === undefined) {
      line = { running: undefined, waiting: [], afterwards: undefined };
      this.#lines.set(socket, line);
    }
    if (socket.destroyed) {
      return;
    }
    if (line.running === undefined) {
      return this.#start(line, [request, response]);
    }
    if (line.waiting.length >= mostWaiting || this.#waitingInAll >= mostWaitingInAll) {
      this.#door.refused("pipeline");
      return void socket.destroy();
    }
    line.waiting.push([request, response]);
    this.#waitingInAll += 1;
  };

  /** The request that is being answered on a connection. Undefined: none. */
  running(socket: Duplex): Turn | undefined {
    return this.#lines.get(socket)?.running;
  }

  /** Calls `act` once all requests of a connection are answered. */
  afterwards(socket: Duplex, act: () => void): void {
    const line = this.#lines.get(socket);
    if (line?.running === undefined) {
      act();
    } else {
      line.afterwards = act;
    }
  }

  #start(line: Line, turn: Turn): void {
    const [request, response] = turn;
    const { connections } = this.#door;
    const { socket } = request; // which the request has no more once it is over
    line.running = turn;
    connections.begin(socket);
    response.once("close", () => {
      line.running = undefined;
      connections.end(socket);
      if (line.waiting.length > 0) {
        this.#goOn(line, !socket.writable);
      } else {
        line.afterwards?.();
      }
    });
    this.#listener(request, response);
  }

  #goOn(line: Line, isOver: boolean): void {
    if (isOver) {
      this.#waitingInAll -= line.waiting.length;
      line.waiting.length = 0;
      return;
    }
    const next = line.waiting.shift();
    this.#waitingInAll -= 1;
    if (next !== undefined) {
      this.#start(line, next);
    }
  }
}
