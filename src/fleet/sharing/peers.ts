import { type Load, nothing } from "./news.ts";
import type { Head, OtherHead } from "./standing.ts";

/**
 * Milliseconds of silence after which a core counts as gone, with its load. A core that does not receive its own
 * messages has lost touch.
 */
export const silentMs = 3500;
/** Bounds on what is kept about other cores. */
const mostCores = 256;
const mostServers = 4096;
const mostModels = 4096;
const mostAccounts = 10_000;
/** Milliseconds for which a server stays unfit for a core that could not use a place on it. */
const unusableMs = 1000;
/** Milliseconds for which a head counts without being told again. A core tells it every second. */
const headMs = 1500;

/** What another core has reported. */
export class Peer {
  heardAt = 0;
  readonly #loads = new Map<string, Load>();
  /** Servers that it gives no work, and when it last said so. */
  readonly #avoided = new Map<string, number>();
  /** Servers on which it could not use a place that was left to it, and when it said so. */
  readonly #unusable = new Map<string, number>();
  /** The work that it has running for accounts, by model and account. */
  readonly #running = new Map<string, number>();
  /** By model, and when it was told. */
  readonly #heads = new Map<string, { readonly head: Head; readonly toldAt: number }>();

  /** The servers on which it has load. */
  get servers(): Iterable<string> {
    return this.#loads.keys();
  }

  loadOn(server: string): Load {
    return this.#loads.get(server) ?? nothing;
  }

  /** It has this load on a server. */
  runs(server: string, load: Load): void {
    if (this.#loads.has(server) || this.#loads.size < mostServers) {
      this.#loads.set(server, load);
    }
  }

  /** It has no load, nothing runs and nobody waits. Returns the servers and accounts of which that was not so. */
  clear(): { readonly servers: readonly string[]; readonly accounts: readonly string[] } {
    const [servers, accounts] = [[...this.#loads.keys()], [...this.#running.keys()]];
    this.#loads.clear();
    this.#running.clear();
    this.#heads.clear();
    return { servers, accounts };
  }

  /** The accounts for which it has something running. */
  get accounts(): Iterable<string> {
    return this.#running.keys();
  }

  /** The work that it has running for an account. */
  runningFor(account: string): number {
    return this.#running.get(account) ?? 0;
  }

  /** It has this work running for an account. */
  runsFor(account: string, work: number): void {
    if (work === 0) {
      this.#running.delete(account);
    } else if (this.#running.has(account) || this.#running.size < mostAccounts) {
      this.#running.set(account, work);
    }
  }

  /** The head of its queue for a model. Undefined: it has told none recently. */
  headOf(model: string, now: number): Head | undefined {
    const told = this.#heads.get(model);
    return told && now - told.toldAt <= headMs ? told.head : undefined;
  }

  /** The head of its queue for a model. Undefined: none, or not known any more. */
  waits(model: string, head: Head | undefined, now: number): void {
    if (head === undefined) {
      this.#heads.delete(model);
    } else if (this.#heads.has(model) || this.#heads.size < mostModels) {
      this.#heads.set(model, { head, toldAt: now });
    }
  }

  /** It could not use a place on a server. */
  couldNotUse(server: string, now: number): void {
    if (this.#unusable.has(server) || this.#unusable.size < mostServers) {
      this.#unusable.set(server, now);
    }
  }

  /** Whether it gives a server no work, or could not use a place on it a moment ago. */
  cannotUse(server: string, now: number): boolean {
    return this.isAvoiding(server, now) || (this.#unusable.get(server) ?? Number.NEGATIVE_INFINITY) >= now - unusableMs;
  }

  /** It gives a server no work for now. */
  avoids(server: string, now: number): void {
    if (this.#avoided.has(server) || this.#avoided.size < mostServers) {
      this.#avoided.set(server, now);
    }
  }

  /** Whether it has recently said that it gives a server no work. */
  isAvoiding(server: string, now: number): boolean {
    return (this.#avoided.get(server) ?? Number.NEGATIVE_INFINITY) >= now - silentMs;
  }

  /** Forgets servers that it has not mentioned recently as avoided or unusable. */
  forgetOld(now: number): void {
    for (const [server, saidAt] of this.#unusable) {
      if (now - saidAt > unusableMs) {
        this.#unusable.delete(server);
      }
    }
    for (const [server, saidAt] of this.#avoided) {
      if (now - saidAt > silentMs) {
        this.#avoided.delete(server);
      }
    }
  }
}

/** The other cores that are heard. */
export class Peers {
  readonly #peers = new Map<string, Peer>();

  get size(): number {
    return this.#peers.size;
  }

  get(core: string): Peer | undefined {
    return this.#peers.get(core);
  }

  /** Adds a core that is heard for the first time. Undefined: there are too many already. */
  add(core: string): Peer | undefined {
    if (this.#peers.size >= mostCores) {
      return undefined;
    }
    const peer = new Peer();
    this.#peers.set(core, peer);
    return peer;
  }

  /** The heads of their queues for a model. */
  heads(model: string, now: number): OtherHead[] {
    const heads: OtherHead[] = [];
    for (const [core, peer] of this.#peers) {
      const head = peer.headOf(model, now);
      if (head !== undefined) {
        heads.push({ ...head, core });
      }
    }
    return heads;
  }

  /** All servers on which any of them has load. */
  servers(): Set<string> {
    return new Set([...this.#peers.values()].flatMap(({ servers }) => [...servers]));
  }

  /** The work that they have running for an account. */
  runningFor(account: string): number {
    let work = 0;
    for (const peer of this.#peers.values()) {
      work += peer.runningFor(account);
    }
    return work;
  }

  /** Their total load on a server. */
  loadOn(server: string): Load {
    const sum = { ...nothing };
    for (const peer of this.#peers.values()) {
      const { inFlight, unreadTokens, tokensInFlight } = peer.loadOn(server);
      sum.inFlight += inFlight;
      sum.unreadTokens += unreadTokens;
      sum.tokensInFlight += tokensInFlight;
    }
    return sum;
  }

  /** How many of them give a server no work for now. */
  avoiding(server: string, now: number): number {
    return [...this.#peers.values()].filter((peer) => peer.isAvoiding(server, now)).length;
  }

  /**
   * Forgets cores that were silent for too long, and servers that were not mentioned recently. Returns the forgotten
   * cores.
   */
  forgetSilent(now: number): Peer[] {
    const left: Peer[] = [];
    for (const [core, peer] of this.#peers) {
      peer.forgetOld(now);
      if (now - peer.heardAt > silentMs) {
        this.#peers.delete(core);
        left.push(peer);
      }
    }
    return left;
  }
}
