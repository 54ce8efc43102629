import { BreakerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { Member } from "../servers/member.ts";
import type { Pool } from "../servers/pool.ts";
import type { OtherQueues } from "../servers/queue/other-queues.ts";
import { type Load, nothing, sumLoads } from "../sharing/news.ts";
import type { SharedFleet, SharedQueue } from "../sharing/shared-fleet.ts";
import type { Sharing } from "../sharing/sharing.ts";
import type { VirtualTimes } from "../sharing/standing.ts";

/** Connects sharing to this core's pools and members, in both directions. */
export class SharedServers implements SharedFleet {
  readonly #pools: () => Iterable<Pool>;
  readonly #retired: () => Iterable<Member>;
  readonly #named = new WeakMap<readonly Member[], ReadonlyMap<string, Member>>();

  /** `retired` are removed members, on which requests may still run. */
  constructor(pools: () => Iterable<Pool>, retired: () => Iterable<Member>) {
    this.#pools = pools;
    this.#retired = retired;
  }

  *loads(): Iterable<readonly [string, Load]> {
    const left = new Map<string, Load>();
    for (const member of this.#retired()) {
      const name = toName(member);
      left.set(name, sumLoads(member, left.get(name) ?? nothing));
    }
    for (const { members } of this.#pools()) {
      for (const member of members) {
        const name = toName(member);
        yield [name, sumLoads(member, left.get(name) ?? nothing)];
        left.delete(name);
      }
    }
    yield* left;
  }

  *queues(): Iterable<SharedQueue> {
    for (const { modelId: model, head, line } of this.#pools()) {
      if (head !== undefined) {
        yield { model, head, times: line.virtualTimes };
      }
    }
  }

  *running(): Iterable<{ readonly model: string; readonly key: string; readonly running: number }> {
    for (const { modelId: model, isContended, shares } of this.#pools()) {
      for (const key of isContended ? shares.keys : []) {
        yield { model, key, running: shares.workHere(key) };
      }
    }
  }

  modelOf(name: string): string {
    return name.slice(0, name.indexOf("\n"));
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

  leftHere(server: string, maySkip: boolean): boolean {
    const [pool, member] = this.#find(server) ?? [];
    return member !== undefined && pool?.takeLeft(member, maySkip) === true;
  }

  timesElsewhere(model: string, times: VirtualTimes): void {
    this.#poolOf(model)?.line.follow(times);
  }

  servedElsewhere(
    model: string,
    to: { readonly key: string; readonly serviceClass: ServiceClass },
    work: number,
  ): void {
    this.#poolOf(model)?.line.serve(to, work);
  }

  runsElsewhere(account: string, work: number): void {
    const model = this.modelOf(account);
    this.#poolOf(model)?.shares.runsElsewhere(account.slice(model.length + 1), work);
  }

  promptElsewhere(server: string, hashes: Int32Array, ends: Int32Array): void {
    const [pool, member] = this.#find(server) ?? [];
    if (member !== undefined) {
      pool?.policy.caches?.promptElsewhere(member, hashes, ends);
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
      if (policy.caches !== undefined) {
        policy.caches.isAlone = !isInTouch;
      }
    }
  }

  #poolOf(model: string): Pool | undefined {
    for (const pool of this.#pools()) {
      if (pool.modelId === model) {
        return pool;
      }
    }
    return undefined;
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

/** The queues of other cores for a model, as a pool sees them. */
export function otherQueues(sharing: Sharing, model: string): OtherQueues {
  return {
    heads: () => sharing.heads(model),
    mayUse: ({ core }, member) => sharing.mayUse(core, toName(member)),
    leave: ({ core }, member, load) => sharing.leave(toName(member), core, load),
    served: (to, work, running) => sharing.served(model, to, work, running),
  };
}
