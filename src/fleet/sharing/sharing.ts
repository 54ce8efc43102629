import type { Random } from "#lib/ids/random.ts";
import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { FleetSharing } from "../interface.ts";
import type { FleetChannel } from "./channel.ts";
import { decode } from "./decode.ts";
import { encode } from "./encode.ts";
import { LeftPlaces } from "./left-places.ts";
import type { Load, News } from "./news.ts";
import { Outbox } from "./outbox.ts";
import { type Peer, Peers, silentMs } from "./peers.ts";
import type { SharedFleet } from "./shared-fleet.ts";
import type { OtherHead } from "./standing.ts";
import { Turns } from "./turns.ts";

/** Milliseconds between two messages with all loads. They repair lost messages and show that the core lives. */
const beatMs = 1000;
/** The most bytes about prompts between two beats. Beyond that, other cores do not learn which server got a prompt. */
const promptBytesPerBeat = 2_097_152;
/**
 * Milliseconds for which a place is left to another core that says nothing. Other cores, which hear from the one that left
 * it when that time is over, wait for twice as long.
 */
const leftMs = 200;
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
  readonly #turns: Turns;
  readonly #peers = new Peers();
  readonly #outbox: Outbox;
  readonly #left: LeftPlaces;
  #promptBytes = 0;
  #heardMyselfAt: number;
  #isInTouch = true;
  #isPassingOn = false;
  #cancelBeat: () => void = () => {};

  constructor({ channel, clock, random }: Dependencies, fleet: SharedFleet) {
    this.#channel = channel;
    this.#clock = clock;
    this.#fleet = fleet;
    this.#left = new LeftPlaces(clock);
    this.#turns = new Turns(clock, random, (server) => fleet.freedElsewhere(server));
    this.#core = Buffer.from(random.bytes(16)).toString("hex");
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
    return this.#peers.size;
  }

  avoiding(server: string): number {
    return this.#peers.avoiding(server, this.#clock.monotonic());
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
    return this.#isInTouch && this.#peers.size > 0 ? this.#peers.heads(model, this.#clock.monotonic()) : noHeads;
  }

  /** Whether another core may use a server, as far as it said. */
  mayUse(core: string, server: string): boolean {
    return this.#peers.get(core)?.cannotUse(server, this.#clock.monotonic()) === false;
  }

  /** Leaves a place on a server to another core, as load. If it says nothing, anybody may take the place after a while. */
  leave(server: string, core: string, load: Load): void {
    this.#leftTo(server, core, load, leftMs, () => {
      this.#outbox.add({ kind: "settled", server, core, isUnfit: false });
      this.#addUp([server]);
      this.#fleet.freedElsewhere(server);
    });
    this.#outbox.add({ kind: "left", server, core, load, isPassedOn: this.#isPassingOn });
  }

  /** This core has served work to an account while somebody waits, and has `running` for it now. */
  served(
    model: string,
    { key, serviceClass }: { readonly key: string; readonly serviceClass: ServiceClass },
    work: number,
    running: number,
  ): void {
    if (this.#peers.size > 0) {
      this.#outbox.add({ kind: "served", model, serviceClass, key, work, running });
    }
  }

  /** This core has trouble with a server. */
  troubled(server: string): void {
    this.#outbox.add({ kind: "trouble", server });
  }

  async close(): Promise<void> {
    this.#cancelBeat();
    this.#outbox.close();
    this.#turns.close();
    this.#left.close();
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
    for (const peer of this.#peers.forgetSilent(now)) {
      this.#addUp(peer.servers);
      this.#addUpRunning(peer.accounts);
    }
    this.#setTouch(now - this.#heardMyselfAt <= silentMs);
    // Servers added by a reload do not have the others' load yet.
    this.#addUp(this.#peers.servers());
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
    const peer = this.#peers.get(message.core) ?? this.#meet(message.core);
    if (peer === undefined) {
      return;
    }
    peer.heardAt = now;
    // Loads count when all of the message is known: a place and what came of it are told together.
    const before = message.isWhole ? peer.clear() : { servers: [], accounts: [] };
    const changed = new Set(before.servers);
    for (const news of message.news) {
      this.#take(peer, news, changed);
    }
    this.#addUp(changed);
    this.#addUpRunning(before.accounts);
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

  /** A place on a server is left to a core, which has to name its next head before it is left another. */
  #leftTo(server: string, core: string, load: Load, ms: number, onLate: () => void): void {
    this.#left.add(server, core, load, ms, onLate);
    this.#peers.get(core)?.waits(this.#fleet.modelOf(server), undefined, this.#clock.monotonic());
    this.#addUp([server]);
  }

  /** Adds a core that is heard for the first time, and sends it this core's state: it may have just been started. */
  #meet(core: string): Peer | undefined {
    const peer = this.#peers.add(core);
    if (peer === undefined) {
      return undefined;
    }
    for (const server of this.#fleet.troubles()) {
      this.troubled(server);
    }
    return peer;
  }

  /** Takes news of another core. Adds the servers whose load changed to `changed`. */
  #take(peer: Peer, news: News, changed: Set<string>): void {
    const now = this.#clock.monotonic();
    switch (news.kind) {
      case "load":
        peer.runs(news.server, news.load);
        changed.add(news.server);
        break;
      case "head": {
        const { waitedMs, ...head } = news.head;
        peer.waits(news.model, { ...head, since: now - waitedMs }, now);
        this.#fleet.timesElsewhere(news.model, news.times);
        break;
      }
      case "empty":
        peer.waits(news.model, undefined, now);
        break;
      case "served":
        this.#fleet.servedElsewhere(news.model, news, news.work);
        peer.runsFor(toAccount(news), news.running);
        this.#addUpRunning([toAccount(news)]);
        this.#outbox.changed(); // the rank of this core's head, if it is the same account's
        break;
      case "left":
        if (news.core !== this.#core) {
          this.#leftTo(news.server, news.core, news.load, 2 * leftMs, () => this.#addUp([news.server]));
        }
        break;
      case "settled":
        this.#left.settle(news.server, news.core);
        changed.add(news.server);
        // A core where nobody waits any more says nothing about the server.
        if (news.isUnfit && peer.headOf(this.#fleet.modelOf(news.server), now) !== undefined) {
          peer.couldNotUse(news.server, now);
        }
        break;
      case "prompt":
        this.#fleet.promptElsewhere(news.server, news.hashes, news.ends);
        break;
      case "trouble":
        this.#fleet.troubleElsewhere(news.server);
        break;
      case "avoided":
        peer.avoids(news.server, now);
    }
  }

  #addUpRunning(accounts: Iterable<string>): void {
    for (const account of accounts) {
      this.#fleet.runsElsewhere(account, this.#peers.runningFor(account));
    }
  }

  #addUp(servers: Iterable<string>): void {
    for (const server of servers) {
      const load = this.#peers.loadOn(server);
      if (this.#fleet.loadElsewhere(server, sum(load, this.#left.loadOn(server)))) {
        this.#turns.await(server, this.#peers.size);
      }
    }
  }
}

/** An account's name among those of all models. */
function toAccount({ model, key }: { readonly model: string; readonly key: string }): string {
  return `${model}\n${key}`;
}

function sum(one: Load, other: Load): Load {
  return {
    inFlight: one.inFlight + other.inFlight,
    unreadTokens: one.unreadTokens + other.unreadTokens,
    tokensInFlight: one.tokensInFlight + other.tokensInFlight,
  };
}
