import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import { type Clock, systemClock } from "../../../lib/time/clock.ts";

/** Bounds of the request messages that are on their way, all calls of a process together. */
export interface ReceivingLimits {
  /** Memory for them, in bytes. */
  readonly totalBytes: number;
  /** The most that the messages of one payer may take of it. */
  readonly payerBytes: number;
  /** Memory kept for messages that have brought less than `smallBytes`, when large messages took all the rest. */
  readonly reservedBytes: number;
  readonly smallBytes: number;
  /** How long a message may take. */
  readonly timeoutMs: number;
  /** How long one may take before its rate counts. */
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

/** One message, or the messages of one stream, on the way. */
export interface Reception {
  /** Counts bytes that came. False: they are too many, and the call has been cut. */
  take(bytes: number): boolean;
  /** The message is complete: its memory is given back, and the next one of a stream may begin. */
  next(): void;
  /** Nothing more is read: memory is given back and no time runs. */
  end(): void;
}

/** Keeps the messages of clients within memory and time. One timer serves all calls. */
export class Receiving {
  readonly #limits: ReceivingLimits;
  readonly #clock: Clock;
  readonly #open = new Set<Message>();
  readonly #taken = new Map<string, number>();
  #total = 0;
  #cancelSweep: (() => void) | undefined;

  constructor(limits: Partial<ReceivingLimits> = {}, clock: Clock = systemClock) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#clock = clock;
  }

  /** How many bytes are held at the moment. */
  get bytes(): number {
    return this.#total;
  }

  /**
   * Starts to watch what one call sends. `cut` ends the call with the error that its caller is to see.
   * The rate of a stream counts from the first byte of each of its messages: between them it may be silent for a while.
   */
  begin(payer: string, cut: (reason: ConnectError) => void, isStream = false): Reception {
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
        cut(overloaded());
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
    for (const message of [...this.#open]) {
      if (!this.#isLate(message, now - message.since)) {
        continue;
      }
      this.#end(message);
      message.cut(failure(Reason.TIMEOUT, "The request message came too slowly."));
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

class Message {
  bytes = 0;
  /** When it began, by the monotonic clock. */
  since: number;
  readonly isStream: boolean;
  readonly payer: string;
  readonly cut: (reason: ConnectError) => void;

  constructor(since: number, isStream: boolean, payer: string, cut: (reason: ConnectError) => void) {
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
