import { status as Status, type StatusObject } from "@grpc/grpc-js";
import { CallsService } from "#gen/tollgate/calls/v1/calls_service_pb.js";
import { type Clock, systemClock } from "../../../../lib/time/clock.ts";
import { ChannelCall } from "../../client/channel-call.ts";
import type { ChannelPool } from "../../client/channel-pool.ts";
import { Carrier } from "./carrier.ts";

/** Milliseconds until the first search for cores without a stream. Each further wait doubles, up to the longest. */
const firstLookMs = 250;
const longestLookMs = 5000;
/** Milliseconds: a stream older than this is replaced by a new one over a newer connection. */
const oldMs = 60_000;
/** Milliseconds: a stream that carries nothing for this long is closed. */
const idleMs = 60_000;
/**
 * Milliseconds to wait after a stream that could not be opened. Each further wait is twice as long, up to the longest.
 */
const firstWaitMs = 1000;
const longestWaitMs = 30_000;
/** Milliseconds to wait after a core that carries no calls. */
const refusedWaitMs = 60_000;

const path = `/${CallsService.typeName}/${CallsService.method.carry.name}`;

/**
 * One stream to each core, for carried calls. Streams are opened one after the other. The channel's load balancer gives
 * each to the next core, until as many new streams in a row as there are cores have reached cores that have one
 * already.
 */
export class Carriers {
  readonly #channels: ChannelPool;
  readonly #clock: Clock;
  /** The streams that take calls. */
  readonly #open: Carrier[] = [];
  readonly #all = new Set<Carrier>();
  #opening: Carrier | undefined;
  /** New streams in a row that reached cores with a stream. */
  #repeats = 0;
  #waitMs = firstWaitMs;
  #notBefore = 0;
  #lookMs = firstLookMs;
  #isWatching = false;
  #isClosed = false;
  /** End the waits for the stream that is being opened. */
  readonly #waiting: (() => void)[] = [];

  constructor(channels: ChannelPool, clock: Clock = systemClock) {
    this.#channels = channels;
    this.#clock = clock;
  }

  /** The stream with the fewest calls. Undefined: no stream has room, and the call needs a stream of its own. */
  take(): Carrier | undefined {
    let least: Carrier | undefined;
    for (const carrier of this.#open) {
      if (carrier.hasRoom && (least === undefined || carrier.load < least.load)) {
        least = carrier;
      }
    }
    if (this.#open.length === 0) {
      this.#look();
    }
    return least;
  }

  /** Resolves when there is a stream, or the attempt to open one has failed. */
  async settled(): Promise<void> {
    this.take();
    if (this.#open.length === 0 && this.#opening !== undefined) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Opens no more streams. Open ones end when their calls are over. */
  close(): void {
    this.#isClosed = true;
    this.#opening?.leave();
    this.#leaveAll();
  }

  #look(): void {
    if (this.#opening === undefined && !this.#isClosed && this.#clock.monotonic() >= this.#notBefore) {
      this.#repeats = 0;
      this.#openOne();
    }
  }

  #openOne(): void {
    try {
      const stream = new ChannelCall(this.#channels, path, Number.POSITIVE_INFINITY);
      this.#opening = new Carrier(stream, this.#listener, this.#clock);
      this.#all.add(this.#opening);
    } catch {
      this.#isClosed = true; // the channels are closed
    }
  }

  readonly #listener = {
    opened: (carrier: Carrier): void => {
      this.#opening = undefined;
      this.#waitMs = firstWaitMs;
      this.#settle(carrier);
      this.#endWaits();
      this.#watch();
      if (this.#repeats < this.#open.length && !this.#isClosed) {
        this.#openOne();
      }
    },
    leaving: (carrier: Carrier): void => {
      this.#drop(carrier);
      carrier.leave();
    },
    over: (carrier: Carrier, { code }: StatusObject): void => {
      this.#drop(carrier);
      this.#all.delete(carrier);
      this.#lookMs = code === Status.OK ? this.#lookMs : firstLookMs;
      if (this.#opening !== carrier) {
        return;
      }
      this.#opening = undefined;
      const isRefused = code === Status.UNIMPLEMENTED;
      if (isRefused) {
        // Among cores of different versions, each gets its share of calls only when no calls are carried.
        this.#leaveAll();
      }
      this.#notBefore = this.#clock.monotonic() + (isRefused ? refusedWaitMs : this.#waitMs);
      this.#waitMs = Math.min(this.#waitMs * 2, longestWaitMs);
      this.#endWaits();
    },
  };

  #endWaits(): void {
    for (const end of this.#waiting.splice(0)) {
      end();
    }
  }

  /** Keeps a new stream if its core has none, or only an old one. */
  #settle(carrier: Carrier): void {
    const at = this.#open.findIndex(({ peer }) => peer === carrier.peer);
    const before = this.#open[at];
    if (before === undefined) {
      this.#repeats = 0;
      this.#open.push(carrier);
      return;
    }
    this.#repeats += 1;
    if (carrier.openedAt - before.openedAt < oldMs) {
      carrier.leave();
    } else {
      this.#open[at] = carrier;
      before.leave();
    }
  }

  #drop(carrier: Carrier): void {
    const at = this.#open.indexOf(carrier);
    if (at >= 0) {
      this.#open.splice(at, 1);
    }
  }

  #leaveAll(): void {
    for (const carrier of this.#open.splice(0)) {
      carrier.leave();
    }
  }

  #watch(): void {
    if (this.#isWatching) {
      return;
    }
    this.#isWatching = true;
    this.#clock.after(this.#lookMs, () => {
      this.#isWatching = false;
      this.#lookMs = Math.min(this.#lookMs * 2, longestLookMs);
      for (const carrier of this.#all) {
        if (carrier.idleMs > idleMs) {
          this.#drop(carrier);
          carrier.leave();
        } else {
          carrier.ping();
        }
      }
      if (this.#open.length > 0) {
        this.#look();
      }
      if (this.#all.size > 0) {
        this.#watch();
      }
    });
  }
}
