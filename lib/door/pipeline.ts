import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { toNetwork, toWiderNetwork } from "../net/network.ts";
import { stopParsing } from "../workarounds/stop-parsing.ts";
import { NetworkCounts } from "./counts/network-counts.ts";
import type { Door } from "./door.ts";
import { whenWritten } from "./held-answer.ts";

/** The most requests that may wait on one connection while an earlier one is answered. */
const mostWaiting = 128;
/** The most requests that may wait on all connections together. Each takes about 5 KB. */
const mostWaitingInAll = 4096;
/** The most of these on the connections of an address, and of the network around it: others pipeline, too. */
const mostOfNetwork = 256;
const mostAround = 512;

type Turn = readonly [request: IncomingMessage, response: ServerResponse];

/** One connection. */
interface Line {
  /** The networks of its client. */
  readonly own: string;
  readonly wider: string;
  running: Turn | undefined;
  /** Whether the answer of one is under way, or held back for its turn although nothing runs. */
  isBusy: boolean;
  readonly waiting: Turn[];
  /** Whether an answer has said that the connection ends: nothing that follows is run. */
  isOver: boolean;
  /** Called when no request runs or waits any more. */
  afterwards: (() => void) | undefined;
  /** Called when an answer is written. */
  readonly goOn: () => void;
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
    const line = this.#lines.get(socket) ?? this.#open(socket);
    if (socket.destroyed || line.isOver) {
      return;
    }
    if (!line.isBusy) {
      return this.#start(line, [request, response]);
    }
    if (line.waiting.length >= mostWaiting || !this.#enter(line)) {
      this.#door.refused("pipeline");
      return stopParsing(socket);
    }
    line.waiting.push([request, response]);
  };

  #open(socket: Socket): Line {
    const address = socket.remoteAddress ?? "";
    const line: Line = {
      own: toNetwork(address),
      wider: `around ${toWiderNetwork(address)}`,
      running: undefined,
      isBusy: false,
      waiting: [],
      isOver: false,
      afterwards: undefined,
      goOn: () => this.#goOn(line, socket),
    };
    this.#lines.set(socket, line);
    return line;
  }

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
    if (line?.isBusy) {
      line.afterwards = act;
    } else {
      act();
    }
  }

  #start(line: Line, turn: Turn): void {
    const [request, response] = turn;
    const { socket } = request; // which the request has no more once it is over
    line.running = turn;
    line.isBusy = true;
    this.#door.connections.begin(socket);
    response.once("close", () => {
      line.running = undefined;
      line.isOver = !response.shouldKeepAlive;
      whenWritten(socket, line.goOn);
    });
    this.#listener(request, response);
  }

  #goOn(line: Line, socket: Socket): void {
    line.isBusy = false;
    line.isOver ||= !socket.writable;
    this.#door.connections.end(socket);
    const next = line.isOver ? undefined : line.waiting.shift();
    if (next !== undefined) {
      this.#leave(line);
      this.#start(line, next);
      return;
    }
    for (const _ of line.waiting.splice(0)) {
      this.#leave(line);
    }
    line.afterwards?.();
  }
}
