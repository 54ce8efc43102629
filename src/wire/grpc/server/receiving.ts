import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { BoundName } from "#lib/door/bounds.ts";
import { failure } from "#lib/errors/failure.ts";
import { type Clock, systemClock } from "#lib/time/clock.ts";
import { type Linked, LinkedList } from "#lib/workarounds/linked-list.ts";

/** Bounds on the request messages that are being received by all calls of a process. */
export interface ReceivingLimits {
  /** Memory for them, in bytes. */
  readonly totalBytes: number;
  /** The most bytes that one payer's messages may take. */
  readonly payerBytes: number;
  /** Memory reserved for messages of less than `smallBytes` so far, for when large messages have taken all the rest. */
  readonly reservedBytes: number;
  readonly smallBytes: number;
  /** Milliseconds that a message may take. */
  readonly timeoutMs: number;
  /** Milliseconds before a message's rate counts. */
  readonly graceMs: number;
  /** The slowest rate after that. */
  readonly bytesPerSecond: number;
}

const defaultLimits: ReceivingLimits = {
  totalBytes: 256 * 1024 * 1024,
  payerBytes: 64 * 1024 * 1024,
  reservedBytes: 32 * 1024 * 1024,
  smallBytes: 64 * 1024,
  timeoutMs: 120_000,
  graceMs: 10_000,
  bytesPerSecond: 1024,
};

const sweepMs = 1000;

/** Ends a call with the error for its caller, for the bound that it hit. */
export type Cut = (reason: ConnectError, bound: BoundName) => void;

/** The reception of one message, or of one stream's messages. */
export interface Reception {
  /** Counts received bytes. Returns false when they are too many: the call was cut. */
  take(bytes: number): boolean;
  /** The message is complete: its memory is released, and the stream's next message may begin. */
  next(): void;
  /** Reading has ended: memory is released and no time limit runs. */
  end(): void;
}

/** Bounds the memory and time of clients' messages. One timer serves all calls. */
export class Receiving {
  readonly #limits: ReceivingLimits;
  readonly #clock: Clock;
  readonly #open = new LinkedList<Message>();
  readonly #taken = new Map<string, number>();
  #total = 0;
  #cancelSweep: (() => void) | undefined;

  constructor(limits: Partial<ReceivingLimits> = {}, clock: Clock = systemClock) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#clock = clock;
  }

  /** The bytes that are held now. */
  get bytes(): number {
    return this.#total;
  }

  /**
   * Starts to watch what one call sends. `cut` ends the call with the error for its caller. Between its messages a
   * stream may be silent until the time limit. The rate and the time of its next message count from that message's first
   * byte.
   */
  begin(payer: string, cut: Cut, isStream = false): Reception {
    const message = new Message(this.#clock.monotonic(), isStream, payer, cut);
    const end = () => this.#end(message);
    this.#open.add(message);
    this.#cancelSweep ??= this.#clock.after(sweepMs, this.#sweep);
    return {
      take: (bytes) => {
        if (!this.#open.has(message)) {
          return false;
        }
        if (this.#take(message, bytes)) {
          return true;
        }
        end();
        cut(overloaded(), "bodies");
        return false;
      },
      next: () => {
        this.#give(message);
        message.since = this.#clock.monotonic();
      },
      end,
    };
  }

  #take(message: Message, bytes: number): boolean {
    const { totalBytes, payerBytes, reservedBytes, smallBytes } = this.#limits;
    const room = message.bytes + bytes <= smallBytes ? totalBytes : totalBytes - reservedBytes;
    const taken = (this.#taken.get(message.payer) ?? 0) + bytes;
    if (this.#total + bytes > room || taken > payerBytes) {
      return false;
    }
    if (message.isStream && message.bytes === 0 && bytes > 0) {
      message.since = this.#clock.monotonic();
    }
    message.bytes += bytes;
    this.#total += bytes;
    this.#taken.set(message.payer, taken);
    return true;
  }

  #end(message: Message): void {
    this.#open.delete(message);
    this.#give(message);
  }

  #give(message: Message): void {
    const { bytes, payer } = message;
    if (bytes === 0) {
      return;
    }
    message.bytes = 0;
    this.#total -= bytes;
    const left = (this.#taken.get(payer) ?? 0) - bytes;
    if (left > 0) {
      this.#taken.set(payer, left);
    } else {
      this.#taken.delete(payer);
    }
  }

  readonly #sweep = (): void => {
    this.#cancelSweep = undefined;
    const now = this.#clock.monotonic();
    for (const message of this.#open.toArray()) {
      if (!this.#isLate(message, now - message.since)) {
        continue;
      }
      this.#end(message);
      message.cut(failure(Reason.TIMEOUT, "The request message came too slowly."), "slow_body");
    }
    if (this.#open.size > 0) {
      this.#cancelSweep = this.#clock.after(sweepMs, this.#sweep);
    }
  };

  #isLate({ bytes, isStream }: Message, age: number): boolean {
    const { timeoutMs, graceMs, bytesPerSecond } = this.#limits;
    if (age > timeoutMs) {
      return true;
    }
    if (isStream && bytes === 0) {
      return false;
    }
    return bytes < ((age - graceMs) / 1000) * bytesPerSecond;
  }
}

class Message implements Linked<Message> {
  bytes = 0;
  list: object | undefined;
  earlier: Message | undefined;
  later: Message | undefined;
  /** When the message began, by the monotonic clock; on a stream that is silent, when the message before ended. */
  since: number;
  readonly isStream: boolean;
  readonly payer: string;
  readonly cut: Cut;

  constructor(since: number, isStream: boolean, payer: string, cut: Cut) {
    this.since = since;
    this.isStream = isStream;
    this.payer = payer;
    this.cut = cut;
  }
}

function overloaded(): ConnectError {
  const message = "Too many large requests are being received at the moment.";
  return failure(Reason.OVERLOADED, message, { retryAfter: { seconds: 1n } });
}
