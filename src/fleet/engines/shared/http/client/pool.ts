import type { Socket } from "node:net";
import { type Linked, LinkedList } from "#lib/workarounds/linked-list.ts";
import { type ConnectOptions, Connector } from "./connect.ts";
import { type Carried, Connection, checkMessage } from "./connection.ts";
import { IdleConnections } from "./idle-connections.ts";
import { type HttpCall, HttpFault, type RequestMessage, type ResponseHandler } from "./interface.ts";

/** How a pool connects. */
export interface PoolOptions extends ConnectOptions {
  /** The most connections. Further calls wait for one, first come first served. */
  readonly connections: number;
  /** The longest silence within an answer, in milliseconds. */
  readonly silenceTimeoutMs: number;
}

/** Silence is counted in ticks of one timer: exact enough for a backstop, and no byte touches a timer. */
const turnsOfSilence = 8;
const longestTurnMs = 1000;

/**
 * At most so many connections are begun in so many milliseconds: each costs as much as a request, and calls of a burst
 * take those that come free meanwhile.
 */
const beginningsAtOnce = 16;
const beginningsMs = 5;

/** A call, waiting for a connection or running on one. */
interface Call extends Carried, Linked<Call> {
  connection: Connection<Call> | undefined;
}

/**
 * HTTP/1.1 connections to one origin, kept open between calls. A kept connection gets its next call only after all that
 * had arrived was read: a server may be closing it, or have sent what nobody asked for, which must not become an answer.
 * A call whose kept connection ends all the same without a byte of an answer is sent once more, on a new one.
 */
export class HttpPool {
  readonly #host: string;
  readonly #options: PoolOptions;
  readonly #connector: Connector;
  readonly #connecting = new Set<Socket>();
  readonly #open = new Set<Connection<Call>>();
  readonly #idle: IdleConnections<Call>;
  readonly #waiting = new LinkedList<Call>();
  /** Calls whose kept connection ended: they wait for a new one. */
  readonly #again = new LinkedList<Call>();
  readonly #turnMs: number;
  /** Ends the counting of silence. Undefined: nothing is open. */
  #stopTicking: (() => void) | undefined;
  #serving: NodeJS.Immediate | undefined;
  /** Connections that were begun in the last milliseconds. */
  #begun = 0;
  #stopPacing: (() => void) | undefined;
  #destroyed = false;

  constructor(origin: string, options: PoolOptions) {
    this.#host = new URL(origin).host;
    this.#options = options;
    this.#connector = new Connector(origin, options);
    this.#idle = new IdleConnections(options.clock);
    this.#turnMs = Math.min(longestTurnMs, Math.ceil(options.silenceTimeoutMs / turnsOfSilence));
  }

  /**
   * Sends a call. Its handler receives the answer, never before this returns. Throws on a message that cannot be sent.
   */
  dispatch(message: RequestMessage, handler: ResponseHandler): HttpCall {
    checkMessage(message);
    const call: Call = {
      message,
      handler,
      connection: undefined,
      list: undefined,
      earlier: undefined,
      later: undefined,
    };
    if (this.#destroyed) {
      queueMicrotask(() => handler.onError(new HttpFault("DESTROYED", "the connections are closed")));
    } else {
      this.#waiting.add(call);
      this.#serveSoon();
      this.#connectWanted();
    }
    const carrier = () => (call.connection?.carries(call) === true ? call.connection : undefined);
    return {
      pause: () => carrier()?.pause(),
      resume: () => carrier()?.resume(),
      abort: () => {
        this.#waiting.delete(call);
        this.#again.delete(call);
        carrier()?.destroy();
      },
    };
  }

  /** Breaks off every call and closes every connection. */
  destroy(): void {
    this.#destroyed = true;
    const reason = new HttpFault("DESTROYED", "the connections were closed");
    for (const socket of this.#connecting) {
      socket.destroy();
    }
    this.#connecting.clear();
    for (const connection of [...this.#open]) {
      connection.destroy(reason);
    }
    for (let call = this.#takeFirst(); call !== undefined; call = this.#takeFirst()) {
      call.handler.onError(reason);
    }
    clearImmediate(this.#serving);
    this.#stopPacing?.();
  }

  /** Gives out idle connections once everything that has arrived was read. */
  #serveSoon(): void {
    this.#serving ??= setImmediate(() => {
      this.#serving = undefined;
      this.#serve();
    });
  }

  /** Gives idle connections to waiting calls, first come first served, and opens more where the limit allows. */
  #serve(): void {
    for (let call = this.#waiting.first; call !== undefined; call = this.#waiting.first) {
      const connection = this.#idle.take();
      if (connection === undefined) {
        break;
      }
      this.#waiting.delete(call);
      this.#run(call, connection, true);
    }
    this.#connectWanted();
  }

  #run(call: Call, connection: Connection<Call>, isKept: boolean): void {
    call.connection = connection;
    connection.start(this.#host, call, isKept);
  }

  #connectWanted(): void {
    const free = this.#options.connections - this.#open.size;
    const wanted = Math.min(free, this.#again.size + Math.max(0, this.#waiting.size - this.#idle.length));
    while (this.#connecting.size < wanted && this.#begun < beginningsAtOnce) {
      this.#begun++;
      this.#connect();
    }
    if (this.#begun > 0) {
      this.#stopPacing ??= this.#options.clock.after(beginningsMs, () => {
        this.#stopPacing = undefined;
        this.#begun = 0;
        this.#serveSoon();
      });
    }
  }

  #connect(): void {
    const socket = this.#connector.open({
      onConnected: () => {
        this.#connecting.delete(socket);
        this.#add(socket);
      },
      onFailed: (error) => {
        this.#connecting.delete(socket);
        this.#takeFirst()?.handler.onError(error);
        this.#connectWanted(); // the others that wait have none under way where the limit allowed no more
      },
    });
    this.#connecting.add(socket);
  }

  #add(socket: Socket): void {
    const connection = new Connection<Call>(socket, {
      onIdle: (idle, seconds) => this.#keep(idle, seconds),
      onClosed: (closed) => this.#drop(closed),
      onUnanswered: (call) => this.#sendAgain(call),
    });
    this.#open.add(connection);
    this.#tickSoon();
    const call = this.#takeFirst();
    if (call === undefined) {
      this.#keep(connection, undefined);
    } else {
      this.#run(call, connection, false);
    }
  }

  /** The call to which the next new connection, or the failure to make one, belongs. */
  #takeFirst(): Call | undefined {
    return this.#again.shift() ?? this.#waiting.shift();
  }

  #sendAgain(call: Call): void {
    call.connection = undefined;
    this.#again.add(call);
    this.#connectWanted();
  }

  #keep(connection: Connection<Call>, promisedSeconds: number | undefined): void {
    this.#idle.keep(connection, promisedSeconds);
    if (this.#waiting.size > 0) {
      this.#serveSoon();
    }
  }

  #drop(connection: Connection<Call>): void {
    this.#open.delete(connection);
    this.#idle.delete(connection);
    if (this.#open.size === 0) {
      this.#stopTicking?.();
      this.#stopTicking = undefined;
    }
    if (this.#waiting.size > 0 && !this.#destroyed) {
      this.#serveSoon();
    }
  }

  #tickSoon(): void {
    this.#stopTicking ??= this.#options.clock.after(this.#turnMs, () => {
      this.#stopTicking = undefined;
      this.#tick();
      if (this.#open.size > 0) {
        this.#tickSoon();
      }
    });
  }

  #tick(): void {
    this.#idle.closeOld();
    const mostSilentTurns = Math.ceil(this.#options.silenceTimeoutMs / this.#turnMs);
    for (const connection of [...this.#open]) {
      connection.tick(mostSilentTurns);
    }
  }
}
