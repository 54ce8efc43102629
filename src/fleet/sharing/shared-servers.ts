import { BreakerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { Member } from "../servers/member.ts";
import type { Pool } from "../servers/pool.ts";
import type { Load } from "./news.ts";
import type { SharedFleet } from "./shared-fleet.ts";

/** Connects sharing to this core's pools and members, in both directions. */
export class SharedServers implements SharedFleet {
  readonly #pools: () => Iterable<Pool>;
  readonly #named = new WeakMap<readonly Member[], ReadonlyMap<string, Member>>();

  constructor(pools: () => Iterable<Pool>) {
    this.#pools = pools;
  }

  *loads(): Iterable<readonly [string, Load]> {
    for (const { members } of this.#pools()) {
      for (const member of members) {
        const { inFlight, unreadTokens, tokensInFlight } = member;
        yield [toName(member), { inFlight, unreadTokens, tokensInFlight }];
      }
    }
  }

  *troubles(): Iterable<string> {
    for (const { members } of this.#pools()) {
      for (const member of members) {
        if (member.breaker.state === BreakerState.OPEN) {
          yield toName(member);
        }
      }
    }
  }

  *avoided(): Iterable<string> {
    for (const { members } of this.#pools()) {
      for (const member of members) {
        if (!member.healthy || member.breaker.state === BreakerState.OPEN) {
          yield toName(member);
        }
      }
    }
  }

  loadElsewhere(server: string, load: Load): boolean {
    const [, member] = this.#find(server) ?? [];
    if (member === undefined) {
      return false;
    }
    const before = member.elsewhere;
    member.elsewhere = load;
    return load.inFlight < before.inFlight || load.unreadTokens < before.unreadTokens;
  }

  freedElsewhere(server: string): void {
    const [, member] = this.#find(server) ?? [];
    member?.freed();
  }

  promptElsewhere(server: string, hashes: Int32Array, ends: Int32Array): void {
    const [pool, member] = this.#find(server) ?? [];
    if (member !== undefined) {
      pool?.policy.heard(member, hashes, ends);
    }
  }

  /**
   * A server that fails another core probably fails this one too: checks it at once and opens its breaker for a while.
   * The breaker stays closed when less than half of the servers would be left: the other core may be the one in
   * trouble.
   */
  troubleElsewhere(server: string): void {
    const [pool, member] = this.#find(server) ?? [];
    if (pool === undefined || member === undefined) {
      return;
    }
    const isFit = (one: Member) => one.healthy && one.breaker.state === BreakerState.CLOSED;
    const others = pool.members.filter((one) => one !== member && isFit(one));
    if (others.length >= pool.members.length / 2) {
      member.breaker.failedElsewhere();
    }
    member.onFailure(new Error("another core has trouble with it"));
  }

  touchChanged(isInTouch: boolean): void {
    for (const { policy } of this.#pools()) {
      policy.isAlone = !isInTouch;
    }
  }

  #find(server: string): readonly [Pool, Member] | undefined {
    for (const pool of this.#pools()) {
      let named = this.#named.get(pool.members);
      if (named === undefined) {
        named = new Map(pool.members.map((member) => [toName(member), member]));
        this.#named.set(pool.members, named);
      }
      const member = named.get(server);
      if (member !== undefined) {
        return [pool, member];
      }
    }
    return undefined;
  }
}

/** A server's name on all cores. The model is part of it, since one server may serve several models. */
export function toName({ modelId, id }: Member): string {
  return `${modelId}\n${id}`;
}
