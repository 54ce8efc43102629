import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import { LeftPlaces } from "./left-places.ts";
import { type Load, type News, sumLoads } from "./news.ts";
import { type Peer, Peers } from "./peers.ts";
import type { SharedFleet } from "./shared-fleet.ts";
import { Turns } from "./turns.ts";

/**
 * Milliseconds for which a place is left to another core that says nothing. Other cores, which hear from the one that left
 * it when that time is over, wait for twice as long.
 */
const leftMs = 200;

/** What the other cores have, run and wait for. Adds it up for this core's fleet as it changes. */
export class Elsewhere {
  readonly peers = new Peers();
  readonly #core: string;
  readonly #fleet: SharedFleet;
  readonly #clock: Clock;
  readonly #left: LeftPlaces;
  readonly #turns: Turns;

  constructor(core: string, fleet: SharedFleet, clock: Clock, random: Random) {
    this.#core = core;
    this.#fleet = fleet;
    this.#clock = clock;
    this.#left = new LeftPlaces(clock);
    this.#turns = new Turns(clock, random, (server) => fleet.freedElsewhere(server));
  }

  /** Takes all news of one message. Loads count when all of it is known: a place and what came of it are told together. */
  hear(peer: Peer, isWhole: boolean, all: readonly News[]): void {
    const before = isWhole ? peer.clear() : { servers: [], accounts: [] };
    const changed = new Set(before.servers);
    for (const news of all) {
      this.#take(peer, news, changed);
    }
    this.#addUp(changed);
    this.#addUpRunning(before.accounts);
  }

  /** This core leaves a place to another one, as load. If that says nothing, `onLate` is called, and anybody may take it. */
  leave(server: string, core: string, load: Load, onLate: () => void): void {
    this.#leftTo(server, core, load, leftMs, () => {
      onLate();
      this.#addUp([server]);
      this.#fleet.freedElsewhere(server);
    });
  }

  /** Forgets cores that have been silent, and gives servers that are new here the others' load. */
  renew(now: number): void {
    for (const peer of this.peers.forgetSilent(now)) {
      this.#addUp(peer.servers);
      this.#addUpRunning(peer.accounts);
    }
    this.#addUp(this.peers.servers());
  }

  close(): void {
    this.#turns.close();
    this.#left.close();
  }

  /** A place on a server is left to a core, which has to name its next head before it is left another. */
  #leftTo(server: string, core: string, load: Load, ms: number, onLate: () => void): void {
    this.#left.add(server, core, load, ms, onLate);
    this.peers.get(core)?.waits(this.#fleet.modelOf(server), undefined, this.#clock.monotonic());
    this.#addUp([server]);
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
      this.#fleet.runsElsewhere(account, this.peers.runningFor(account));
    }
  }

  #addUp(servers: Iterable<string>): void {
    for (const server of servers) {
      const load = this.peers.loadOn(server);
      if (this.#fleet.loadElsewhere(server, sumLoads(load, this.#left.loadOn(server)))) {
        this.#turns.await(server, this.peers.size);
      }
    }
  }
}

/** An account's name among those of all models. */
function toAccount({ model, key }: { readonly model: string; readonly key: string }): string {
  return `${model}\n${key}`;
}
