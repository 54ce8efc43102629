import type { Clock } from "#lib/time/clock.ts";
import { Changes } from "./changes.ts";
import type { FleetChannel } from "./channel.ts";
import { encode, pack } from "./messages/encode.ts";
import type { News } from "./news.ts";
import type { SharedFleet } from "./shared-fleet.ts";

/** The least milliseconds between two messages. News in between is sent together. */
const pauseMs = 10;

/** Sends a core's news to all cores, with a pause after each message. */
export class Outbox {
  sentBytes = 0;
  readonly #core: string;
  readonly #channel: FleetChannel;
  readonly #clock: Clock;
  readonly #changes: Changes;
  #pieces: Buffer[] = [];
  #sentAt = Number.NEGATIVE_INFINITY;
  #isChanged = false;
  #cancel: (() => void) | undefined;

  constructor(core: string, channel: FleetChannel, clock: Clock, fleet: SharedFleet) {
    this.#core = core;
    this.#channel = channel;
    this.#clock = clock;
    this.#changes = new Changes(fleet);
  }

  /** Sends news soon. */
  add(news: News): void {
    this.addPiece(encode(news));
  }

  addPiece(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#sendSoon();
  }

  /** Loads or heads have changed: sends the new ones soon. */
  changed(): void {
    this.#isChanged = true;
    this.#sendSoon();
  }

  /** Sends the head of a model's queue soon, even if it is still the same. */
  repeatHead(model: string): void {
    this.#changes.forgetHead(model);
    this.changed();
  }

  /** Sends all loads and heads now. */
  sendAll(): void {
    this.#changes.clear();
    this.#isChanged = true;
    this.#send(true);
  }

  /** Sends news now, in messages of its own. */
  sendApart(news: readonly News[]): void {
    this.#pass(pack(this.#core, false, news.map(encode)));
  }

  close(): void {
    this.#cancel?.();
  }

  #sendSoon(): void {
    const waitMs = Math.max(0, this.#sentAt + pauseMs - this.#clock.monotonic());
    this.#cancel ??= this.#clock.after(waitMs, () => this.#send(false));
  }

  #send(isWhole: boolean): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#sentAt = this.#clock.monotonic();
    const changes = this.#isChanged ? this.#changes.take(this.#sentAt) : [];
    const pieces = [...changes, ...this.#pieces];
    this.#pieces = [];
    this.#isChanged = false;
    this.#pass(pack(this.#core, isWhole, pieces));
  }

  #pass(messages: readonly Buffer[]): void {
    for (const message of messages) {
      this.sentBytes += message.length;
      this.#channel.send(message);
    }
  }
}
