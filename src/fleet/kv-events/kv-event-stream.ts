import type { Clock } from "../../../lib/time/clock.ts";
import { type KvEvent, readBatch } from "./events.ts";
import { Peer, type PeerAddress } from "./peer.ts";

/** Pauses before a connection is made anew, in milliseconds, the last one again and again. */
const retryMs = [100, 1000, 5000];
/** The most bytes of events in a second; a server that sends more is not followed for a while. */
const mostBytesPerS = 33_554_432;
const floodedMs = 30_000;
/** How long a server may take to send again what was missed, in milliseconds. */
const replayMs = 5000;
/** Bounds of what is kept while it does: batches, and their bytes. */
const mostKept = 10_000;
const mostKeptBytes = 33_554_432;

/** Where a server publishes its events. */
export interface KvEventSource extends PeerAddress {
  /** Where it sends again what was missed. Undefined: nowhere. */
  readonly replayPort?: number | undefined;
  /** Only messages whose topic begins so are heard. */
  readonly topic: string;
}

/** What a stream is told of. */
export interface KvEventListener {
  /** What happened, without a gap since the last time, or since `lost`. */
  happened(events: readonly KvEvent[]): void;
  /** What happened meanwhile is not known: nothing of what was told before holds. */
  lost(): void;
  /** Events are heard from now on, or no longer, and why; only changes are told, and the first failure. */
  heard(isHeard: boolean, error: string): void;
}

/** Follows what a server of vLLM or SGLang tells of its KV cache, over ZeroMQ. */
export class KvEventStream {
  /** Whether everything is heard that happens. */
  isLive = false;
  /** Batches that were never heard. */
  missed = 0;
  readonly #source: KvEventSource;
  readonly #clock: Clock;
  readonly #listener: KvEventListener;
  #subscription: Peer | undefined;
  #replay: Peer | undefined;
  /** The number of the next batch. Undefined: none was heard yet. */
  #next: bigint | undefined;
  /** The last batch that was published. Undefined: none was heard yet. */
  #published: bigint | undefined;
  /** The first batch that was not heard when what was missed was asked for. */
  #askedFrom = 0n;
  /** Batches that came while those before them are asked for. */
  #kept: { readonly number: bigint; readonly payload: Buffer }[] = [];
  #keptBytes = 0;
  #failures = 0;
  #second = 0;
  #secondBytes = 0;
  #cancelRetry: () => void = () => {};
  #cancelReplay: () => void = () => {};
  #isClosed = false;
  #isNew = true;

  /** Connects at once, and again whenever the connection is lost. */
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

  /** Ends the connection for a while. What happens meanwhile may be sent again later. */
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
    // What was sent again may overtake what was published, but what was published never comes twice.
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

  /** Counts from the start again: the server was started anew, with an empty cache. */
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

  /** Asks for what was missed; where nobody can be asked, goes on with what is there. */
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

  /** A batch that is sent again, or the end of them. The empty part before is the envelope of a request. */
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

  /** Takes what came meanwhile, after what was sent again. */
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

/** Stands in place of a batch's number after the last one that is sent again. */
const lastNumber = 0xffff_ffff_ffff_ffffn;
