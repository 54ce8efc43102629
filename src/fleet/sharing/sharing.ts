import type { Random } from "#lib/ids/random.ts";
import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { FleetSharing } from "../interface.ts";
import type { FleetChannel } from "./channel.ts";
import { Elsewhere } from "./elsewhere.ts";
import { decode } from "./messages/decode.ts";
import { encode } from "./messages/encode.ts";
import type { Load } from "./news.ts";
import { Outbox } from "./outbox.ts";
import { type Peer, silentMs } from "./peers.ts";
import type { SharedFleet } from "./shared-fleet.ts";
import type { OtherHead } from "./standing.ts";

/** Milliseconds between two messages with all loads. They repair lost messages and show that the core lives. */
const beatMs = 1000;
/** Milliseconds without this core's own messages after which the channel connects anew, and once more after as many. */
const renewMs = 5000;
/** The most bytes about prompts between two beats. Beyond that, other cores do not learn which server got a prompt. */
const promptBytesPerBeat = 2_097_152;
const noHeads: readonly OtherHead[] = [];

export interface Dependencies {
  readonly channel: FleetChannel;
  readonly clock: Clock;
  readonly random: Random;
}

/** Tells the other cores this core's load on each server, and receives theirs. */
export class Sharing implements FleetSharing {
  heardBytes = 0;
  unreadable = 0;
  dropped = 0;
  readonly #channel: FleetChannel;
  readonly #clock: Clock;
  readonly #fleet: SharedFleet;
  readonly #core: string;
  readonly #elsewhere: Elsewhere;
  readonly #outbox: Outbox;
  #promptBytes = 0;
  #heardMyselfAt: number;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #isInTouch = true;
  #isPassingOn = false;
  #cancelBeat: () => void = () => {};

  constructor({ channel, clock, random }: Dependencies, fleet: SharedFleet) {
    this.#channel = channel;
    this.#clock = clock;
    this.#fleet = fleet;
    this.#core = Buffer.from(random.bytes(16)).toString("hex");
    this.#elsewhere = new Elsewhere(this.#core, fleet, clock, random);
    this.#outbox = new Outbox(this.#core, channel, clock, fleet);
    this.#heardMyselfAt = clock.monotonic();
    channel.listen((message) => this.#hear(message));
    this.#beat();
  }

  get sentBytes(): number {
    return this.#outbox.sentBytes;
  }

  get isInTouch(): boolean {
    return this.#isInTouch;
  }

  get cores(): number {
    return this.#elsewhere.peers.size;
  }

  avoiding(server: string): number {
    return this.#elsewhere.peers.avoiding(server, this.#clock.monotonic());
  }

  /** This core's load on some server, or its queue, has changed. */
  changed(): void {
    this.#outbox.changed();
  }

  /** This core has sent a prompt to a server. */
  prompted(server: string, hashes: Int32Array, ends: Int32Array): void {
    const piece = encode({ kind: "prompt", server, hashes, ends });
    if (!this.#isInTouch || this.#promptBytes + piece.length > promptBytesPerBeat) {
      this.dropped++;
      return;
    }
    this.#promptBytes += piece.length;
    this.#outbox.addPiece(piece);
  }

  /** The heads of other cores' queues for a model. None while this core is out of touch. */
  heads(model: string): readonly OtherHead[] {
    return this.#isInTouch && this.#elsewhere.peers.size > 0
      ? this.#elsewhere.peers.heads(model, this.#clock.monotonic())
      : noHeads;
  }

  /** Whether another core may use a server, as far as it said. */
  mayUse(core: string, server: string): boolean {
    return this.#elsewhere.peers.get(core)?.cannotUse(server, this.#clock.monotonic()) === false;
  }

  /** Leaves a place on a server to another core, as load. If it says nothing, anybody may take the place after a while. */
  leave(server: string, core: string, load: Load): void {
    this.#elsewhere.leave(server, core, load, () =>
      this.#outbox.add({ kind: "settled", server, core, isUnfit: false }),
    );
    this.#outbox.add({ kind: "left", server, core, load, isPassedOn: this.#isPassingOn });
  }

  /** This core has served work to an account while somebody waits, and has `running` for it now. */
  served(
    model: string,
    { key, serviceClass }: { readonly key: string; readonly serviceClass: ServiceClass },
    work: number,
    running: number,
  ): void {
    if (this.#elsewhere.peers.size > 0) {
      this.#outbox.add({ kind: "served", model, serviceClass, key, work, running });
    }
  }

  /** This core has trouble with a server. */
  troubled(server: string): void {
    this.#outbox.add({ kind: "trouble", server });
  }

  /** This core has other servers than before. */
  serversChanged(): void {
    this.#elsewhere.renew(this.#clock.monotonic());
  }

  async close(): Promise<void> {
    this.#cancelBeat();
    this.#outbox.close();
    this.#elsewhere.close();
    await this.#channel.close();
  }

  #beat(): void {
    this.#promptBytes = 0;
    for (const running of this.#fleet.running()) {
      this.#outbox.add({ kind: "served", ...running, serviceClass: "standard", work: 0 });
    }
    this.#outbox.sendAll();
    // In a separate message: a core of an older version cannot decode it, but should still get the loads.
    this.#outbox.sendApart([...this.#fleet.avoided()].map((server) => ({ kind: "avoided", server })));
    const now = this.#clock.monotonic();
    this.#setTouch(now - this.#heardMyselfAt <= silentMs);
    if (now - Math.max(this.#heardMyselfAt, this.#renewedAt) >= renewMs) {
      this.#renewedAt = now;
      this.#channel.renew();
    }
    this.#elsewhere.renew(now);
    this.#cancelBeat = this.#clock.after(beatMs, () => this.#beat());
  }

  #setTouch(isInTouch: boolean): void {
    if (isInTouch === this.#isInTouch) {
      return;
    }
    this.#isInTouch = isInTouch;
    this.#fleet.touchChanged(isInTouch);
  }

  #hear(bytes: Uint8Array): void {
    this.heardBytes += bytes.length;
    const message = decode(bytes);
    if (message === undefined) {
      this.unreadable++;
      return;
    }
    const now = this.#clock.monotonic();
    if (message.core === this.#core) {
      this.#heardMyselfAt = now;
      this.#setTouch(true);
      return;
    }
    const peer = this.#elsewhere.peers.get(message.core) ?? this.#meet(message.core);
    if (peer === undefined) {
      return;
    }
    peer.heardAt = now;
    this.#elsewhere.hear(peer, message.isWhole, message.news);
    if (message.news.some(({ kind }) => kind === "served")) {
      this.#outbox.changed(); // the rank of this core's head, if it is the same account's
    }
    for (const news of message.news) {
      if (news.kind === "left" && news.core === this.#core) {
        this.#takeLeft(news.server, news.isPassedOn);
      }
    }
  }

  /**
   * Another core has left a place to this one: gives it to a request that waits, and tells what came of it. Two cores may
   * have left places to the same head: the second place goes to a third core that is next by now. That core keeps it, so
   * that no place wanders.
   */
  #takeLeft(server: string, isPassedOn: boolean): void {
    this.#isPassingOn = true;
    const isUnfit = !this.#fleet.leftHere(server, !isPassedOn);
    this.#isPassingOn = false;
    this.#outbox.add({ kind: "settled", server, core: this.#core, isUnfit });
    this.#outbox.repeatHead(this.#fleet.modelOf(server));
  }

  /** Adds a core that is heard for the first time, and sends it this core's state: it may have just been started. */
  #meet(core: string): Peer | undefined {
    const peer = this.#elsewhere.peers.add(core);
    if (peer === undefined) {
      return undefined;
    }
    for (const server of this.#fleet.troubles()) {
      this.troubled(server);
    }
    return peer;
  }
}
