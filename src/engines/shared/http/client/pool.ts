import type { Socket } from "node:net";
import { type ConnectOptions, Connector } from "./connect.ts";
import { Connection, checkMessage } from "./connection.ts";
import { type HttpCall, HttpFault, type RequestMessage, type ResponseHandler } from "./interface.ts";

/** How a pool connects. */
export interface PoolOptions extends ConnectOptions {
  /** The most connections. Further calls wait for one, first come first served. */
  readonly connections: number;
  /** The longest silence within an answer, in milliseconds. */
  readonly silenceTimeoutMs: number;
}

/** Milliseconds. Less than engines keep idle connections (5 s): otherwise a call may meet one that is closing. */
const usualIdleMs = 3000;
/**
 * The longest time to keep an idle connection where the server promises more, and the margin before the promise ends,
 * in milliseconds.
 */
const longestIdleMs = 60_000;
const idleMarginMs = 2000;
/** Silence is counted in ticks of one timer: exact enough for a backstop, and no byte touches a timer. */
const turnsOfSilence = 8;
const longestTurnMs = 1000;

/** A connection without a call. */
interface Idle {
  readonly connection: Connection;
  /** On the monotonic clock. */
  readonly until: number;
}

/** A call, waiting for a connection or running on one. */
interface Call {
  readonly message: RequestMessage;
  readonly handler: ResponseHandler;
  connection: Connection | undefined;
}

/** HTTP/1.1 connections to one origin, kept open between calls. */
export class HttpPool {
  readonly #host: string;
  readonly #options: PoolOptions;
  readonly #connector: Connector;
  readonly #connecting = new Set<Socket>();
  readonly #open = new Set<Connection>();
  /** The most recently used one is last, and is used first. */
  readonly #idle: Idle[] = [];
  readonly #waiting = new Set<Call>();
  readonly #turnMs: number;
  #clock: NodeJS.Timeout | undefined;
  #destroyed = false;

  constructor(origin: string, options: PoolOptions) {
    this.#host = new URL(origin).host;
    this.#options = options;
    this.#connector = new Connector(origin, options);
    this.#turnMs = Math.min(longestTurnMs, Math.ceil(options.silenceTimeoutMs / turnsOfSilence));
  }

  /**
   * Sends a call. Its handler receives the answer, never before this returns. Throws on a message that cannot be sent.
   */
  dispatch(message: RequestMessage, handler: ResponseHandler): HttpCall {
    checkMessage(message);
    const call: Call = { message, handler, connection: undefined };
    if (this.#destroyed) {
      queueMicrotask(() => handler.onError(new HttpFault("DESTROYED", "the connections are closed")));
    } else {
      this.#begin(call);
    }
    const carrier = () => (call.connection?.carries(handler) === true ? call.connection : undefined);
    return {
      pause: () => carrier()?.pause(),
      resume: () => carrier()?.resume(),
      abort: () => {
        this.#waiting.delete(call);
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
    for (const { handler } of this.#waiting) {
      handler.onError(reason);
    }
    this.#waiting.clear();
  }

  /** Starts a call at once on an idle connection, as nearly always; not while other calls wait. */
  #begin(call: Call): void {
    const connection = this.#waiting.size === 0 ? this.#takeIdle() : undefined;
    if (connection === undefined) {
      this.#waiting.add(call);
      this.#serve();
    } else {
      this.#run(call, connection);
    }
  }

  /** Gives idle connections to waiting calls, and opens more where the limit allows. */
  #serve(): void {
    for (const call of this.#waiting) {
      const connection = this.#takeIdle();
      if (connection === undefined) {
        break;
      }
      this.#waiting.delete(call);
      this.#run(call, connection);
    }
    const free = this.#options.connections - this.#open.size;
    const wanted = Math.min(this.#waiting.size, free);
    while (this.#connecting.size < wanted) {
      this.#connect();
    }
  }

  #run(call: Call, connection: Connection): void {
    call.connection = connection;
    connection.start(this.#host, call.message, call.handler);
  }

  #connect(): void {
    const socket = this.#connector.open({
      onConnected: () => {
        this.#connecting.delete(socket);
        this.#add(socket);
      },
      onFailed: (error) => {
        this.#connecting.delete(socket);
        this.#failOne(error);
      },
    });
    this.#connecting.add(socket);
  }

  #add(socket: Socket): void {
    const connection = new Connection(socket, {
      onIdle: (idle, seconds) => this.#keep(idle, seconds),
      onClosed: (closed) => this.#drop(closed),
    });
    this.#open.add(connection);
    this.#clock ??= setInterval(() => this.#tick(), this.#turnMs).unref();
    this.#keep(connection, undefined);
  }

  #keep(connection: Connection, promisedSeconds: number | undefined): void {
    const idleMs =
      promisedSeconds === undefined ? usualIdleMs : Math.min(longestIdleMs, promisedSeconds * 1000 - idleMarginMs);
    this.#idle.push({ connection, until: performance.now() + idleMs });
    this.#serve();
  }

  #takeIdle(): Connection | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.until > performance.now()) {
        return idle.connection;
      }
      idle.connection.destroy();
    }
    return undefined;
  }

  #drop(connection: Connection): void {
    this.#open.delete(connection);
    const index = this.#idle.findIndex((idle) => idle.connection === connection);
    if (index !== -1) {
      this.#idle.splice(index, 1);
    }
    if (this.#open.size === 0) {
      clearInterval(this.#clock);
      this.#clock = undefined;
    }
    if (!this.#destroyed) {
      this.#serve();
    }
  }

  /** A connection attempt failed: the call that has waited longest fails. */
  #failOne(error: Error): void {
    for (const call of this.#waiting) {
      this.#waiting.delete(call);
      call.handler.onError(error);
      return;
    }
  }

  #tick(): void {
    const now = performance.now();
    for (const { connection, until } of [...this.#idle]) {
      if (until <= now) {
        connection.destroy();
      }
    }
    const mostSilentTurns = Math.ceil(this.#options.silenceTimeoutMs / this.#turnMs);
    for (const connection of [...this.#open]) {
      connection.tick(mostSilentTurns);
    }
  }
}
