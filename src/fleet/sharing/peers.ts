import { type Load, nothing } from "./news.ts";

/**
 * Milliseconds of silence after which a core counts as gone, with its load. A core that does not receive its own
 * messages has lost touch.
 */
export const silentMs = 3500;
/** Bounds on what is kept about other cores. */
const mostCores = 256;
const mostServers = 4096;

/** What another core has reported. */
export class Peer {
  heardAt = 0;
  readonly #loads = new Map<string, Load>();
  /** Servers that it gives no work, and when it last said so. */
  readonly #avoided = new Map<string, number>();

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

  /** It has no load on any server. Returns the servers on which it had some. */
  clear(): string[] {
    const servers = [...this.#loads.keys()];
    this.#loads.clear();
    return servers;
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

  /** Forgets avoided servers that it has not mentioned recently. */
  forgetOld(now: number): void {
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

  /** All servers on which any of them has load. */
  servers(): Set<string> {
    return new Set([...this.#peers.values()].flatMap(({ servers }) => [...servers]));
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
   * Forgets cores that were silent for too long, and avoided servers that were not mentioned recently. Returns the
   * servers of forgotten cores.
   */
  forgetSilent(now: number): Set<string> {
    const left = new Set<string>();
    for (const [core, peer] of this.#peers) {
      peer.forgetOld(now);
      if (now - peer.heardAt > silentMs) {
        this.#peers.delete(core);
        for (const server of peer.servers) {
          left.add(server);
        }
      }
    }
    return left;
  }
}
