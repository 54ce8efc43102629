import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isThisMachine, toNetwork, toWiderNetwork } from "../net/network.ts";
import { stopParsing } from "../workarounds/stop-parsing.ts";
import { NetworkCounts } from "./counts/network-counts.ts";
import type { Door } from "./door.ts";
import type { ToClient } from "./drain.ts";
import { whenWritten } from "./held-answer.ts";

/** The most requests that may wait on all connections together. Each takes about 5 KB. */
const mostWaitingInAll = 4096;
/**
 * The most of these on the connections of a network, and of this machine: when their connections end, all of them end in one
 * turn of the event loop.
 */
const mostOfNetwork = 32;
const mostOfMachine = 128;

type Turn = readonly [request: IncomingMessage, response: ServerResponse];

/** One connection. */
interface Line {
  /** The network around its client. */
  readonly network: string;
  /** How many requests may wait on all connections of that. */
  readonly most: number;
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
 * one piece, and keeps their answers for a client that never reads them. A connection that has one more wait than its network
 * may is closed.
 */
export class Pipeline {
  readonly #listener: RequestListener;
  readonly #door: Pick<Door, "refused" | "connections" | "begins">;
  readonly #toClient: ToClient;
  readonly #lines = new WeakMap<Duplex, Line>();
  readonly #networks = new NetworkCounts();
  #waitingInAll = 0;

  constructor(listener: RequestListener, door: Pick<Door, "refused" | "connections" | "begins">, toClient: ToClient) {
    this.#listener = listener;
    this.#door = door;
    this.#toClient = toClient;
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
    if (!this.#enter(line)) {
      this.#door.refused("pipeline");
      return stopParsing(socket);
    }
    line.waiting.push([request, response]);
  };

  #open(socket: Socket): Line {
    const address = socket.remoteAddress ?? "";
    const line: Line = {
      network: toWiderNetwork(address),
      most: isThisMachine(toNetwork(address)) ? mostOfMachine : mostOfNetwork,
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

  /** Counts a waiting request, also for its client's network. False: that or all together have too many. */
  #enter({ network, most }: Line): boolean {
    if (this.#waitingInAll >= mostWaitingInAll || !this.#networks.add(network, most)) {
      return false;
    }
    this.#waitingInAll += 1;
    return true;
  }

  #leave({ network }: Line): void {
    this.#waitingInAll -= 1;
    this.#networks.remove(network);
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
    this.#door.begins(
      () => this.#toClient(request),
      () => response.destroyed || this.#listener(request, response),
    );
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
