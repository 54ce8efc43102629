import { status as Status, type StatusObject } from "@grpc/grpc-js";
import type { Clock } from "../../../../lib/time/clock.ts";
import type { ChannelCall } from "../../client/channel-call.ts";
import { decodeBatch, encodeFrames, type Frame } from "../frames.ts";
import { maxCarriedCalls } from "../limits.ts";
import { Outbox } from "../outbox.ts";

/** A call on a shared stream. */
export interface Carried {
  /** Takes a frame from the core. Throws when the frame is invalid. */
  receive(frame: Frame): void;
  /** Ends the call on this side, without telling the core. */
  fail(code: Status, details: string): void;
}

/** Receives a stream's events. */
export interface CarrierListener {
  /** The core accepts calls on the stream. */
  opened(carrier: Carrier): void;
  /** The stream takes no more calls: the core is shutting down. */
  leaving(carrier: Carrier): void;
  /** The stream has ended, and its calls with it. */
  over(carrier: Carrier, status: StatusObject): void;
}

/** Bytes that the core may leave unread before further calls go elsewhere. */
const mostUnsent = 4 * 1024 * 1024;
/** The core closes a stream on which nothing comes for 120 seconds. */
const pingMs = 30_000;

/** A stream to a core that carries calls. */
export class Carrier {
  readonly openedAt: number;
  readonly #stream: ChannelCall;
  readonly #listener: CarrierListener;
  readonly #clock: Clock;
  readonly #calls = new Map<number, Carried>();
  readonly #outbox: Outbox;
  #state: "opening" | "open" | "leaving" | "over" = "opening";
  #lastCall = 0;
  #unsent = 0;
  #spokeAt: number;
  #usedAt: number;

  constructor(stream: ChannelCall, listener: CarrierListener, clock: Clock) {
    this.#stream = stream;
    this.#listener = listener;
    this.#clock = clock;
    this.openedAt = clock.monotonic();
    this.#spokeAt = this.openedAt;
    this.#usedAt = this.openedAt;
    this.#outbox = new Outbox((batch) => this.#send(batch));
    stream.start(undefined, {
      onReceiveMetadata() {},
      onReceiveMessage: (bytes) => this.#receive(bytes),
      onReceiveStatus: (status) => this.#end(status),
    });
    stream.startRead();
  }

  /** The core's address. */
  get peer(): string {
    return this.#stream.peer;
  }

  /** The number of running calls. */
  get load(): number {
    return this.#calls.size;
  }

  /** Whether the stream can carry another call. */
  get hasRoom(): boolean {
    return this.#state === "open" && this.#calls.size < maxCarriedCalls && this.#unsent < mostUnsent;
  }

  /** For how long the stream has carried no call, in milliseconds. */
  get idleMs(): number {
    return this.#calls.size > 0 ? 0 : this.#clock.monotonic() - this.#usedAt;
  }

  /** Begins a call and returns its number. Undefined: the stream is over. */
  begin(call: Carried): number | undefined {
    if (this.#state === "over") {
      return undefined;
    }
    this.#lastCall += 1;
    this.#calls.set(this.#lastCall, call);
    return this.#lastCall;
  }

  /** Sends frames, all in one batch. */
  send(...frames: Frame[]): void {
    if (this.#state !== "over") {
      this.#outbox.add(...frames);
    }
  }

  /** Forgets a call that is over. */
  delete(call: number): void {
    this.#calls.delete(call);
    if (this.#calls.size === 0) {
      this.#usedAt = this.#clock.monotonic();
      this.#closeIfLeft();
    }
  }

  /** Takes no more calls, and ends when the running ones are over. */
  leave(): void {
    if (this.#state === "opening" || this.#state === "open") {
      this.#state = "leaving";
      this.#closeIfLeft();
    }
  }

  /** Sends an empty batch when the core has heard nothing for long, so that it keeps the stream. */
  ping(): void {
    const isNeeded = this.#state === "open" || this.#calls.size > 0;
    if (isNeeded && this.#clock.monotonic() - this.#spokeAt > pingMs) {
      this.#send(encodeFrames([]));
    }
  }

  /** Ends the stream of a core that violates the protocol. */
  breakOff(details: string): void {
    this.#stream.cancelWithStatus(Status.INTERNAL, details);
  }

  #closeIfLeft(): void {
    if (this.#state === "leaving" && this.#calls.size === 0) {
      this.#outbox.flush(); // calls that were cancelled
      this.#stream.halfClose();
    }
  }

  #send(batch: Buffer): void {
    if (this.#state === "over") {
      return;
    }
    this.#spokeAt = this.#clock.monotonic();
    this.#unsent += batch.length;
    const callback = () => {
      this.#unsent -= batch.length;
    };
    this.#stream.sendMessageWithContext({ callback }, batch);
  }

  #receive(bytes: Uint8Array): void {
    if (this.#state === "opening") {
      this.#state = "open";
      this.#listener.opened(this);
    }
    try {
      const { frames, leaving } = decodeBatch(bytes);
      if (leaving) {
        this.#listener.leaving(this);
      }
      for (const frame of frames) {
        this.#calls.get(frame.call)?.receive(frame);
      }
    } catch (cause) {
      this.breakOff(`what the core sent cannot be read: ${cause}`);
      return;
    }
    this.#stream.startRead();
  }

  #end(status: StatusObject): void {
    this.#state = "over";
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    this.#listener.over(this, status);
    for (const call of calls) {
      call.fail(Status.UNAVAILABLE, `the stream to the core ended: ${status.details}`);
    }
  }
}
