import type { Random } from "../../../lib/ids/random.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { FleetSharing } from "../interface.ts";
import type { FleetChannel } from "./channel.ts";
import { decode, encode, join, type Load, longestMessage, type News, nothing } from "./news.ts";
import { type Peer, Peers, silentMs } from "./peers.ts";
import type { SharedFleet } from "./shared-fleet.ts";
import { Turns } from "./turns.ts";

/** The least milliseconds between two messages. News in between is sent together. */
const pauseMs = 10;
/** Milliseconds between two messages with all loads. They repair lost messages and show that the core lives. */
const beatMs = 1000;
/** The most bytes about prompts between two beats. Beyond that, other cores do not learn which server got a prompt. */
const promptBytesPerBeat = 2_097_152;
/** Dependencies. */
export interface SharingParts {
  readonly channel: FleetChannel;
  readonly clock: Clock;
  readonly random: Random;
}

/** Tells the other cores this core's load on each server, and receives theirs. */
export class Sharing implements FleetSharing {
  sentBytes = 0;
  heardBytes = 0;
  unreadable = 0;
  dropped = 0;
  readonly #channel: FleetChannel;
  readonly #clock: Clock;
  readonly #fleet: SharedFleet;
  readonly #core: string;
  readonly #turns: Turns;
  readonly #peers = new Peers();
  readonly #told = new Map<string, Load>();
  #pieces: Buffer[] = [];
  #promptBytes = 0;
  #heardMyselfAt: number;
  #sentAt = Number.NEGATIVE_INFINITY;
  #isInTouch = true;
  #isChanged = false;
  #cancelSend: (() => void) | undefined;
  #cancelBeat: () => void = () => {};

  constructor({ channel, clock, random }: SharingParts, fleet: SharedFleet) {
    this.#channel = channel;
    this.#clock = clock;
    this.#fleet = fleet;
    this.#turns = new Turns(clock, random, (server) => fleet.freedElsewhere(server));
    this.#core = Buffer.from(random.bytes(16)).toString("hex");
    this.#heardMyselfAt = clock.monotonic();
    channel.listen((message) => this.#hear(message));
    this.#beat();
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

  /** This core's load on some server has changed. */
  changed(): void {
    this.#isChanged = true;
    this.#sendSoon();
  }

  /** This core has sent a prompt to a server. */
  prompted(server: string, hashes: Int32Array, ends: Int32Array): void {
    const piece = encode({ kind: "prompt", server, hashes, ends });
    if (!this.#isInTouch || this.#promptBytes + piece.length > promptBytesPerBeat) {
      this.dropped++;
      return;
    }
    this.#promptBytes += piece.length;
    this.#pieces.push(piece);
    this.#sendSoon();
  }

  /** This core has trouble with a server. */
  troubled(server: string): void {
    this.#pieces.push(encode({ kind: "trouble", server }));
    this.#sendSoon();
  }

  async close(): Promise<void> {
    this.#cancelBeat();
    this.#cancelSend?.();
    this.#turns.close();
    await this.#channel.close();
  }

  #beat(): void {
    this.#told.clear();
    this.#promptBytes = 0;
    this.#isChanged = true;
    this.#send(true);
    // In a separate message: a core of an older version cannot decode it, but should still get the loads.
    this.#sendAll(
      [...this.#fleet.avoided()].map((server) => encode({ kind: "avoided", server })),
      false,
    );
    const now = this.#clock.monotonic();
    this.#addUp(this.#peers.forgetSilent(now));
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

  #sendSoon(): void {
    const waitMs = Math.max(0, this.#sentAt + pauseMs - this.#clock.monotonic());
    this.#cancelSend ??= this.#clock.after(waitMs, () => this.#send());
  }

  #send(isWhole = false): void {
    this.#cancelSend?.();
    this.#cancelSend = undefined;
    this.#sentAt = this.#clock.monotonic();
    const pieces = this.#isChanged ? [...this.#changedLoads(), ...this.#pieces] : this.#pieces;
    this.#pieces = [];
    this.#isChanged = false;
    this.#sendAll(pieces, isWhole);
  }

  /** Sends pieces in as few messages as possible. A whole message is sent even without pieces. */
  #sendAll(pieces: readonly Buffer[], isWhole: boolean): void {
    const room = longestMessage - 64;
    for (let from = 0; from < pieces.length || (from === 0 && isWhole); ) {
      let [to, bytes] = [from, 0];
      while (to < pieces.length && bytes + (pieces[to] as Buffer).length <= room) {
        bytes += (pieces[to++] as Buffer).length;
      }
      const message = join(this.#core, isWhole && from === 0, pieces.slice(from, to));
      this.sentBytes += message.length;
      this.#channel.send(message);
      from = Math.max(to, from + 1);
    }
  }

  #changedLoads(): Buffer[] {
    const pieces: Buffer[] = [];
    for (const [server, load] of this.#fleet.loads()) {
      const before = this.#told.get(server) ?? nothing;
      if (!isEqual(before, load)) {
        this.#told.set(server, load);
        pieces.push(encode({ kind: "load", server, load }));
      }
    }
    return pieces;
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
    if (message.isWhole) {
      const before = peer.clear();
      const named = new Set(message.news.map(({ server }) => server));
      this.#addUp(before.filter((server) => !named.has(server)));
    }
    for (const news of message.news) {
      this.#take(peer, news);
    }
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

  #take(peer: Peer, news: News): void {
    switch (news.kind) {
      case "load":
        peer.runs(news.server, news.load);
        this.#addUp([news.server]);
        break;
      case "prompt":
        this.#fleet.promptElsewhere(news.server, news.hashes, news.ends);
        break;
      case "trouble":
        this.#fleet.troubleElsewhere(news.server);
        break;
      case "avoided":
        peer.avoids(news.server, this.#clock.monotonic());
    }
  }

  #addUp(servers: Iterable<string>): void {
    for (const server of servers) {
      if (this.#fleet.loadElsewhere(server, this.#peers.loadOn(server))) {
        this.#turns.await(server, this.#peers.size);
      }
    }
  }
}

function isEqual(one: Load, other: Load): boolean {
  return (
    one.inFlight === other.inFlight &&
    one.unreadTokens === other.unreadTokens &&
    one.tokensInFlight === other.tokensInFlight
  );
}
