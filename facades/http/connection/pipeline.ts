import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

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
  readonly #lines = new WeakMap<Duplex, Line>();
  #waitingInAll = 0;

  constructor(listener: RequestListener) {
    this.#listener = listener;
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
    line.running = turn;
    response.once("close", () => {
      line.running = undefined;
      if (line.waiting.length > 0) {
        this.#goOn(line, !request.socket.writable);
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
