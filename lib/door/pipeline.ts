import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { toNetwork, toWiderNetwork } from "../net/network.ts";
import { stopParsing } from "../workarounds/stop-parsing.ts";
import { NetworkCounts } from "./counts/network-counts.ts";
import type { Door } from "./door.ts";

/** The most requests that may wait on one connection while an earlier one is answered. */
const mostWaiting = 128;
/** The most requests that may wait on all connections together. Each takes about 5 KB. */
const mostWaitingInAll = 4096;
/** The most of these on the connections of an address, and of the network around it: others pipeline, too. */
const mostOfNetwork = 512;
const mostAround = 1024;

type Turn = readonly [request: IncomingMessage, response: ServerResponse];

/** One connection. */
interface Line {
  /** The networks of its client. */
  readonly own: string;
  readonly wider: string;
  running: Turn | undefined;
  readonly waiting: Turn[];
  /** Whether an answer has said that the connection ends: nothing that follows is run. */
  isOver: boolean;
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
  readonly #networks = new NetworkCounts();
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
      const address = socket.remoteAddress ?? "";
      line = {
        own: toNetwork(address),
        wider: `around ${toWiderNetwork(address)}`,
        running: undefined,
        waiting: [],
        isOver: false,
        afterwards: undefined,
      };
      this.#lines.set(socket, line);
    }
    if (socket.destroyed || line.isOver) {
      return;
    }
    if (line.running === undefined) {
      return this.#start(line, [request, response]);
    }
    if (line.waiting.length >= mostWaiting || !this.#enter(line)) {
      this.#door.refused("pipeline");
      return stopParsing(socket);
    }
    line.waiting.push([request, response]);
  };

  /** Counts a waiting request, also for the networks of its client. False: they or all together have too many. */
  #enter({ own, wider }: Line): boolean {
    if (this.#waitingInAll >= mostWaitingInAll || !this.#networks.add(own, mostOfNetwork)) {
      return false;
    }
    if (!this.#networks.add(wider, mostAround)) {
      this.#networks.remove(own);
      return false;
    }
    this.#waitingInAll += 1;
    return true;
  }

  #leave({ own, wider }: Line): void {
    this.#waitingInAll -= 1;
    this.#networks.remove(own);
    this.#networks.remove(wider);
  }

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
      line.isOver = !response.shouldKeepAlive || !socket.writable;
      if (line.waiting.length > 0) {
        this.#goOn(line);
      } else {
        line.afterwards?.();
      }
    });
    this.#listener(request, response);
  }

  #goOn(line: Line): void {
    if (line.isOver) {
      for (const _ of line.waiting.splice(0)) {
        this.#leave(line);
      }
      return;
    }
    const next = line.waiting.shift();
    if (next !== undefined) {
      this.#leave(line);
      this.#start(line, next);
    }
  }
}
