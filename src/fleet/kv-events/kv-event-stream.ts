import type { Clock } from "../../../lib/time/clock.ts";
import { type KvEvent, readBatch } from "./events.ts";
import { Peer, type PeerAddress } from "./peer.ts";

/** Pauses before a reconnection, in milliseconds. The last one repeats. */
const retryMs = [100, 1000, 5000];
/** The most bytes of events in a second. A server that sends more is not followed for a while. */
const mostBytesPerS = 33_554_432;
const floodedMs = 30_000;
/** Milliseconds that a server may take to replay missed batches. */
const replayMs = 5000;
/** Bounds on what is kept during a replay: batches, and their bytes. */
const mostKept = 10_000;
const mostKeptBytes = 33_554_432;

/** Where a server publishes its events. */
export interface KvEventSource extends PeerAddress {
  /** The port that replays missed batches. Undefined: none. */
  readonly replayPort?: number | undefined;
  /** Only messages whose topic begins with this are received. */
  readonly topic: string;
}

/** Receives a stream's events and its state. */
export interface KvEventListener {
  /** Events, without a gap since the previous call or since `lost`. */
  happened(events: readonly KvEvent[]): void;
  /** Events were missed: nothing that was reported before holds any more. */
  lost(): void;
  /** Events arrive from now on, or no longer, with the reason. Called for changes and for the first failure only. */
  heard(isHeard: boolean, error: string): void;
}

/** Follows the KV cache events that a vLLM or SGLang server publishes over ZeroMQ. */
export class KvEventStream {
  /** Whether every event arrives. */
  isLive = false;
  /** Batches that never arrived. */
  missed = 0;
  readonly #source: KvEventSource;
  readonly #clock: Clock;
  readonly #listener: KvEventListener;
  #subscription: Peer | undefined;
  #replay: Peer | undefined;
  /** The number of the next batch. Undefined: no batch has arrived yet. */
  #next: bigint | undefined;
  /** The number of the last published batch. Undefined: no batch has arrived yet. */
  #published: bigint | undefined;
  /** The first missing batch when the replay was requested. */
  #askedFrom = 0n;
  /** Batches that arrived during a replay of earlier ones. */
  #kept: { readonly number: bigint; readonly payload: Buffer }[] = [];
  #keptBytes = 0;
  #failures = 0;
  #second = 0;
  #secondBytes = 0;
  #cancelRetry: () => void = () => {};
  #cancelReplay: () => void = () => {};
  #isClosed = false;
  #isNew = true;

  /** Connects at once, and reconnects whenever the connection is lost. */
  constructor(source: KvEventSource, clock: Clock, listener: KvEventListener) {
    this.#source = source;
    this.#clock = clock;
    this.#listener = listener;
    this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#endReplay();
    this.#subscription?.close();
  }

  #connect(): void {
    const { topic } = this.#source;
    this.#subscription = new Peer("SUB", this.#source, this.#clock, {
      opened: (peer) => {
        this.#failures = 0;
        peer.send(Buffer.concat([Buffer.from([1]), Buffer.from(topic)]));
        this.#catchUp();
      },
      heard: (parts) => this.#guard(() => this.#hear(parts)),
      closed: (error) => this.#fail(error.message),
    });
  }

  /** Ends the connection and pauses. The server may replay what happens meanwhile. */
  #fail(why: string, pauseMs = retryMs[Math.min(this.#failures, retryMs.length - 1)] as number): void {
    if (this.#isClosed) {
      return;
    }
    this.#failures++;
    this.#setLive(false, why);
    this.#endReplay();
    this.#subscription?.close();
    this.#cancelRetry();
    this.#cancelRetry = this.#clock.after(pauseMs, () => this.#connect());
  }

  #setLive(isLive: boolean, why: string): void {
    if (isLive !== this.isLive || this.#isNew) {
      this.#listener.heard(isLive, why);
    }
    this.#isNew = false;
    this.isLive = isLive;
  }

  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#fail((error as Error).message, floodedMs);
    }
  }

  #hear(parts: readonly Buffer[]): void {
    const [, counter, payload] = parts;
    if (parts.length !== 3 || counter?.length !== 8 || payload === undefined) {
      throw new Error("it sent what is no batch of events");
    }
    if (this.#isFlood(payload.length)) {
      this.#lose();
      throw new Error("it sends more events than can be followed");
    }
    const number = counter.readBigUInt64BE();
    // A replayed batch may overtake published ones, but published batches never repeat or go back.
    const isRestart = number < this.#askedFrom || (this.#published !== undefined && number <= this.#published);
    this.#published = number;
    if (isRestart) {
      this.#restart(number, payload);
    } else if (this.#replay !== undefined) {
      this.#keep(number, payload);
    } else if (this.#next === undefined || number <= this.#next) {
      this.#takeInOrder(number, payload);
    } else {
      this.#keep(number, payload);
      this.#catchUp();
    }
  }

  #isFlood(bytes: number): boolean {
    const second = Math.floor(this.#clock.monotonic() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondBytes = 0;
    }
    this.#secondBytes += bytes;
    return this.#secondBytes > mostBytesPerS;
  }

  #take(number: bigint, payload: Buffer): void {
    this.#next = number + 1n;
    this.#listener.happened(readBatch(payload));
  }

  /** Starts over: the server was restarted, with an empty cache. */
  #restart(number: bigint, payload: Buffer): void {
    this.#endReplay();
    this.#kept = [];
    this.#keptBytes = 0;
    this.#listener.happened([{ kind: "cleared" }]);
    this.#next = 0n;
    this.#keep(number, payload);
    this.#catchUp();
  }

  #keep(number: bigint, payload: Buffer): void {
    this.#kept.push({ number, payload });
    this.#keptBytes += payload.length;
    if (this.#kept.length > mostKept || this.#keptBytes > mostKeptBytes) {
      this.#lose();
      throw new Error("it sends more events than can be kept while those before them are awaited");
    }
  }

  /** Requests a replay of the missing batches. Without a replay port, continues with what has arrived. */
  #catchUp(): void {
    const { host, replayPort } = this.#source;
    this.#askedFrom = this.#next ?? 0n;
    if (replayPort === undefined) {
      this.#goOn();
      return;
    }
    const from = Buffer.alloc(8);
    from.writeBigUInt64BE(this.#askedFrom);
    this.#cancelReplay = this.#clock.after(replayMs, () => this.#goOn());
    this.#replay = new Peer("DEALER", { host, port: replayPort }, this.#clock, {
      opened: (peer) => peer.send(Buffer.alloc(0), from),
      heard: (parts) => this.#guard(() => this.#hearAgain(parts)),
      closed: () => this.#goOn(),
    });
  }

  /** Handles a replayed batch, or the end of the replay. The empty part before it is the envelope of a request. */
  #hearAgain(parts: readonly Buffer[]): void {
    const [counter, payload] = parts.slice(-2);
    if (counter?.length !== 8 || payload === undefined) {
      throw new Error("it sent again what is no batch of events");
    }
    const number = counter.readBigUInt64BE();
    if (number === lastNumber || this.#isFlood(payload.length)) {
      this.#goOn();
      return;
    }
    this.#takeInOrder(number, payload);
  }

  /** Continues with the batches that arrived during the replay. */
  #goOn(): void {
    this.#endReplay();
    this.#setLive(true, "");
    const kept = this.#kept;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#guard(() => {
      for (const { number, payload } of kept) {
        this.#takeInOrder(number, payload);
      }
    });
  }

  #takeInOrder(number: bigint, payload: Buffer): void {
    const next = this.#next ?? number;
    if (number < next) {
      return;
    }
    if (number > next) {
      this.missed += Number(number - next);
      this.#lose();
    }
    this.#take(number, payload);
  }

  #lose(): void {
    this.#next = undefined;
    this.#listener.lost();
  }

  #endReplay(): void {
    this.#cancelReplay();
    this.#replay?.close();
    this.#replay = undefined;
  }
}

/** The number that marks the end of a replay. */
const lastNumber = 0xffff_ffff_ffff_ffffn;
