import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { RefusalLines } from "../errors/refusal-lines.ts";
import { systemRandom } from "../ids/random.ts";
import { isRequestId, newRequestId } from "../ids/request-id.ts";
import { UnreadAnswers } from "../net/unread-answers.ts";
import { boundToMemory } from "../overload/memory.ts";
import { type Clock, systemClock } from "../time/clock.ts";
import type { BoundName, ListenerName } from "./bounds.ts";
import { Connections } from "./connections/connections.ts";
import type { ConnectionLimits } from "./connections/limits.ts";
import { NetworkCounts } from "./counts/network-counts.ts";
import { Pace } from "./counts/pace.ts";
import { unwantedBytesPerSecond } from "./drain.ts";
import { NetworkTurns } from "./network-turns.ts";
import { type Listening, listenWidely, socketsOf } from "./workarounds/wide-listening.ts";

/** The connections that a listener takes unless it says otherwise. A facade with 5,000 running calls needs about 30. */
export const defaultLimits: ConnectionLimits = {
  connections: 20_000,
  connectionsPerAddress: 256,
  firstBytesMs: 15_000,
};

const usualUnreadBytes = 32 * 1024 * 1024;
const refusalsPerSecond = 50;
const uncountedPerSecond = 100;
/** The calls of one payer that may run at once: its account's own limits are far below. */
const usualCalls = 2048;
/** The calls of new connections that a network may begin in one turn of the event loop. */
const newCallsATurn = 8;

/** What a door is made with. */
export interface DoorOptions {
  readonly listener: ListenerName;
  readonly limits?: Partial<ConnectionLimits>;
  /** Whether an address is that of a proxy of our own, whose connections are those of many clients. Default: none is. */
  readonly isTrustedProxy?: ((address: string) => boolean) | undefined;
  readonly clock?: Clock;
  /** As NetworkTurns. */
  readonly nextTurn?: (run: () => void) => void;
  /** The most bytes of all answers that wait for slow clients. Default: 32 MiB. */
  readonly unreadBytes?: number;
  /** The most calls of one payer that may run at once. */
  readonly callsPerPayer?: number;
  /** Writes lines of requests that are refused before anything that writes lines hears of them. Default: none are written. */
  readonly lines?: RefusalLines;
  /** Called with each client that is refused or cut off to keep room for others. */
  readonly onRefused?: (listener: ListenerName, bound: BoundName) => void;
}

/** A request that is refused before anything that writes lines hears of it. */
export interface RefusedHere {
  /** The id that its caller gave it. */
  readonly given: unknown;
  readonly reason: Reason;
  /** The HTTP status of the answer. Absent: it has none of its own. */
  readonly status?: number;
  /** The network of its client. */
  readonly address: string;
}

/** The way into one listener: nothing of this program listens without one. It bounds what clients may cost. */
export class Door {
  readonly name: ListenerName;
  readonly clock: Clock;
  readonly connections: Connections;
  /** Paces the answers of clients that are refused again and again: what they cost is then bounded by their connections. */
  readonly refusals: Pace;
  /** Paces the answers that no rate counts and nobody pays for: a file, a health check. */
  readonly uncounted: Pace;
  /** Paces the reading of bodies that nobody wants, in bytes. */
  readonly unwanted: Pace;
  /** The answers that wait for a turn of their own although Node.js takes their requests for answered. */
  holding = 0;
  /** Bounds the answers that wait for slow clients. */
  readonly unread: UnreadAnswers;
  /** The turns of connections, and of requests and calls. */
  readonly #arriving: NetworkTurns;
  readonly #beginning: NetworkTurns;
  readonly #listening = new Map<Server, Listening>();
  readonly #calls = new NetworkCounts();
  readonly #callsPerPayer: number;
  readonly #isTrustedProxy: (address: string) => boolean;
  readonly #lines: RefusalLines;
  readonly #onRefused: (listener: ListenerName, bound: BoundName) => void;

  constructor(options: DoorOptions) {
    const { listener, limits, isTrustedProxy = () => false, clock = systemClock } = options;
    const { onRefused = () => {}, lines = () => false } = options;
    this.name = listener;
    this.clock = clock;
    this.#arriving = new NetworkTurns(options.nextTurn);
    this.#beginning = new NetworkTurns(options.nextTurn);
    this.refusals = new Pace(refusalsPerSecond, clock);
    this.uncounted = new Pace(uncountedPerSecond, clock);
    this.unwanted = new Pace(unwantedBytesPerSecond, clock);
    this.#callsPerPayer = options.callsPerPayer ?? usualCalls;
    this.#onRefused = onRefused;
    this.#lines = lines;
    this.#isTrustedProxy = isTrustedProxy;
    this.unread = new UnreadAnswers(boundToMemory(options.unreadBytes ?? usualUnreadBytes, "machine"), clock, () =>
      this.refused("slow_reader"),
    );
    this.connections = new Connections({ ...defaultLimits, ...limits }, clock, isTrustedProxy, this.refused);
  }

  /** A client is refused or cut off. */
  readonly refused = (bound: BoundName): void => this.#onRefused(this.name, bound);

  /**
   * Gives a request that is refused here an id, its caller's own where that can be one, and writes its line under it.
   * Returns it, for the answer.
   */
  nameRefusal({ given, reason, ...where }: RefusedHere): string {
    const requestId = isRequestId(given) ? given : newRequestId(systemRandom);
    this.#lines(requestId, reason, where);
    return requestId;
  }

  /** Counts a call for who pays for it, an account or a network. Undefined: that has too many. Else call it at the end. */
  begin(payer: string): (() => void) | undefined {
    if (!this.#calls.add(payer, this.#callsPerPayer)) {
      this.refused("calls");
      return undefined;
    }
    return () => this.#calls.remove(payer);
  }

  /**
   * Begins a request or a call: at once, or one a turn of the event loop where its client's network owes for refusals or for
   * what nobody pays. `client`: tells the address, and is asked only where that matters. `isNew`: of a connection over which
   * nothing was admitted so far; of these a network begins a few a turn.
   */
  begins(client: () => string | undefined, act: () => void, isNew = false): void {
    const address = isNew || this.refusals.isAsked || this.uncounted.isAsked ? client() : undefined;
    if (address !== undefined && this.#owes(address)) {
      this.#beginning.take(address, 1, act);
    } else if (address !== undefined && isNew) {
      this.#beginning.take(address, newCallsATurn, act);
    } else {
      act();
    }
  }

  /**
   * Takes new connections in, `most` of a network in a turn of the event loop and one while it owes, or ends a broken one: one
   * of a network in a turn. A trusted proxy's, which come for many networks, wait for nothing.
   */
  passes(socket: Duplex, act: () => void, most = 1): void {
    const address = (socket as Socket).remoteAddress ?? "";
    if (this.#isTrustedProxy(address)) {
      act();
    } else {
      this.#arriving.take(address, this.#owes(address) ? 1 : most, act);
    }
  }

  /** Whether an address owes for more than a few refusals, or answers that nothing counts. */
  #owes(address: string): boolean {
    return this.refusals.owes(address) || this.uncounted.owes(address);
  }

  /** Has a server's connections come through this door, and listens. As `listen` of lib/net. */
  async open(server: Server, address: string, setting: string, reusePort = false): Promise<string> {
    const listeners = server.listeners("connection");
    const sockets = socketsOf(server);
    server.removeAllListeners("connection").on("connection", (socket: Socket) => {
      this.connections.enter(socket);
      if (socket.destroyed) {
        return;
      }
      socket.on("error", ignore); // nobody else listens while it waits
      const takeIn = () => {
        for (const listener of socket.destroyed ? [] : listeners) {
          listener.call(server, socket);
        }
      };
      this.passes(socket, takeIn, sockets);
    });
    const listening = await listenWidely(server, address, setting, reusePort);
    this.#listening.set(server, listening);
    return listening.address;
  }

  /** Has a server take no new connections, and leaves the open ones alone. Resolves once they have ended. */
  async close(server: Server): Promise<void> {
    await this.#listening.get(server)?.stop();
  }
}

const ignore = () => {};
