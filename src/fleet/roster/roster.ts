import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { Lookup } from "#lib/net/lookup.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { FleetConfig, ModelConfig, Routing, ServerConfig } from "#src/config/schema.ts";
import type { ServedModel } from "../catalogue/interface.ts";
import type { Engine } from "../engines/interface.ts";
import { describe } from "../health/failures.ts";
import type { FleetChange, FleetObserver, FleetSharing, HealthChange } from "../interface.ts";
import { createPolicy } from "../routing/create-policy.ts";
import { Addresses } from "../servers/addresses.ts";
import type { Policy } from "../servers/choice/policy.ts";
import { digestKeys, type KeyDigests, toFingerprint } from "../servers/fingerprint.ts";
import { Machines } from "../servers/machines/machines.ts";
import { Member } from "../servers/member.ts";
import { memberId } from "../servers/member-id.ts";
import { Pool } from "../servers/pool.ts";
import type { FleetChannel } from "../sharing/channel.ts";
import { Sharing } from "../sharing/sharing.ts";
import { WatchedServers } from "../watch/watched-servers.ts";
import { otherQueues, SharedServers, toName } from "./shared-servers.ts";

export interface Dependencies {
  readonly config: FleetConfig;
  /** Creates the adapter of one server of one model. */
  readonly engines: (server: ServerConfig, model: ModelConfig) => Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Looks up the addresses of a host name. */
  readonly lookup: Lookup;
  /** Carries the messages between cores that share the fleet. Absent: this core is the only one. */
  readonly channel?: FleetChannel;
  /** Told of servers that left. Absent: nobody is. */
  readonly observer?: Pick<FleetObserver, "left">;
  /** Called when a server fails its checks, when it recovers and when it first passes. Absent: no listener. */
  readonly healthChanged?: (change: HealthChange) => void;
}

interface Entry {
  readonly member: Member;
  /** Everything that the adapter was created from. */
  readonly made: string;
}

interface Plan {
  readonly model: ServedModel;
  readonly pool: Pool;
  readonly entries: readonly Entry[];
  /** The weight of each entry's member after the change. */
  readonly weights: readonly number[];
}

/** The servers of every model, with their health checks. A change applies completely or not at all. */
export class Roster {
  /** By model id, in the configured order. */
  pools: ReadonlyMap<string, Pool> = new Map();
  readonly #parts: Dependencies;
  readonly #machines = new Machines();
  readonly #watched: WatchedServers;
  #entries: readonly Entry[] = [];
  /** Removed members. They close when the requests on them have ended. */
  #retired: readonly Member[] = [];
  #models: readonly ServedModel[] = [];
  /** The API keys as they were when the models were prepared. */
  #keys: KeyDigests = new Map();
  /** The number of prepared changes that are neither applied nor discarded. */
  #prepared = 0;
  readonly #addresses: Addresses;
  readonly #sharing: Sharing | undefined;

  constructor(parts: Dependencies) {
    this.#parts = parts;
    const { channel, clock, random } = parts;
    const servers = new SharedServers(
      () => this.pools.values(),
      () => this.#retired,
    );
    this.#sharing = channel && new Sharing({ channel, clock, random }, servers);
    this.#watched = new WatchedServers({
      ...parts,
      troubled: (member) => this.#sharing?.troubled(toName(member)),
    });
    this.#addresses = new Addresses({
      ...parts,
      intervalMs: parts.config.resolve_interval_s * 1000,
      onChange: () => this.#follow(),
    });
  }

  /** The state of sharing with other cores. Undefined: this core is the only one. */
  get sharing(): FleetSharing | undefined {
    return this.#sharing;
  }

  /** Requests that run on a server, also those that came before it was made anew. */
  inFlightOn(member: Member): number {
    const name = toName(member);
    const former = this.#retired.filter((one) => toName(one) === name);
    return former.reduce((sum, { inFlight }) => sum + inFlight, member.inFlight);
  }

  /**
   * Prepares a change of models and servers, and of API keys in their files. An unchanged server keeps its state and its
   * requests. Throws when an adapter cannot be created.
   */
  prepare(models: readonly ServedModel[]): FleetChange {
    const { apply, discard } = this.#plan(models, digestKeys(models));
    this.#prepared++;
    const end = (action: () => void) => () => {
      this.#prepared--;
      action();
      this.#follow();
    };
    return { apply: end(apply), discard: end(discard) };
  }

  #plan(models: readonly ServedModel[], keys: KeyDigests): FleetChange {
    const made: Entry[] = [];
    const discard = () => {
      for (const { member } of made) {
        void member.close();
      }
    };
    try {
      const plans = models.map((model): Plan => {
        const pool = this.pools.get(model.id) ?? this.#createPool(model);
        const servers = model.servers.flatMap((server) => this.#place(server));
        const entries = servers.map((server) => {
          const fingerprint = toFingerprint(server, model, keys);
          const known = this.#entries.find((entry) => entry.made === fingerprint);
          if (known !== undefined) {
            return known;
          }
          const entry = { member: this.#take(server, model, pool), made: fingerprint };
          made.push(entry);
          return entry;
        });
        return { model, pool, entries, weights: servers.map(({ weight }) => weight) };
      });
      return { apply: () => this.#apply(models, keys, plans), discard };
    } catch (error) {
      discard();
      throw error;
    }
  }

  /** Closes every adapter, even while requests run on it. */
  async close(): Promise<void> {
    this.#addresses.close();
    this.#watched.close();
    const members = [...this.#entries.map(({ member }) => member), ...this.#retired];
    await this.#sharing?.close();
    await Promise.all(members.map((member) => member.close()));
  }

  /** A host's addresses may have changed. Waits for a prepared change, which was planned with the old addresses. */
  #follow(): void {
    if (this.#prepared > 0) {
      return;
    }
    try {
      this.#plan(this.#models, this.#keys).apply();
    } catch (error) {
      this.#parts.logger.error({ error: describe(error) }, "could not take servers on, the last ones stay");
    }
  }

  /** A configured server is one server, or one for each address of its host. */
  #place(server: ServerConfig): readonly ServerConfig[] {
    if (!server.resolve) {
      return [server];
    }
    return this.#addresses.of(parseHost(server)).map((address) => ({ ...server, address }));
  }

  #apply(models: readonly ServedModel[], keys: KeyDigests, plans: readonly Plan[]): void {
    const [before, poolsBefore] = [this.#entries, this.pools];
    this.#models = models;
    this.#keys = keys;
    this.#entries = plans.flatMap(({ entries }) => entries);
    this.pools = new Map(plans.map(({ pool }) => [pool.modelId, pool]));
    for (const { model, pool, entries, weights } of plans) {
      const members = entries.map(({ member }) => member);
      for (const [at, member] of members.entries()) {
        member.weight = weights[at] as number;
      }
      // A policy that stays has learned what the servers' caches contain.
      const stays = pool.policy.routing === this.#routingOf(model);
      pool.replace(members, stays ? pool.policy : this.#createPolicy(model));
    }
    for (const [id, pool] of poolsBefore) {
      if (!this.pools.has(id)) {
        pool.close();
      }
    }

    const left = before.filter((entry) => !this.#entries.includes(entry)).map(({ member }) => member);
    for (const member of left) {
      this.#watched.leave(member);
      member.retire();
      this.#parts.observer?.left(member.id, member.modelId);
    }
    this.#retired = [...this.#retired, ...left].filter((member) => !member.closed);
    this.#machines.forgetEmpty();
    this.#sharing?.serversChanged();
    for (const { model, pool } of plans) {
      for (const member of pool.members) {
        this.#watched.watch(member, model, pool);
      }
    }
    const named = models.flatMap(({ servers }) => servers).filter(({ resolve }) => resolve);
    this.#addresses.watch(new Set(named.map(parseHost)));
  }

  #take(server: ServerConfig, model: ServedModel, pool: Pool): Member {
    const { engines, clock, config } = this.#parts;
    const id = memberId(server, model.id);
    const member = new Member(id, model.id, server, engines(server, model), {
      clock,
      openMs: config.health_interval_s * 1000,
      onFree: () => pool.pump(),
      machine: this.#machines.at(server),
    });
    member.breaker.onOpen = () => this.#sharing?.troubled(toName(member));
    // An embedding server gets work only after it has shown that it truncates nothing, a server found by a lookup only
    // after it has shown that it is up: it may have just been started.
    member.healthy = model.kind !== "embedding" && server.address === undefined;
    // An operator's drain applies to the server, whatever else about it has changed.
    member.draining = this.#entries.some((entry) => entry.member.id === id && entry.member.draining);
    return member;
  }

  #createPool(model: ServedModel): Pool {
    const { clock, config } = this.#parts;
    const pool = new Pool(model.id, this.#createPolicy(model), clock, config);
    const sharing = this.#sharing;
    if (sharing !== undefined) {
      pool.onChange = () => sharing.changed();
      pool.others = otherQueues(sharing, model.id);
    }
    return pool;
  }

  #createPolicy(model: ServedModel): Policy {
    const { config, random } = this.#parts;
    const sharing = this.#sharing;
    const onPrompt =
      sharing && ((member: Member, ...prompt: [Int32Array, Int32Array]) => sharing.prompted(toName(member), ...prompt));
    const policy = createPolicy(this.#routingOf(model), config.prefix_blocks, random, onPrompt);
    if (policy.caches !== undefined) {
      policy.caches.isAlone = sharing !== undefined && !sharing.isInTouch;
    }
    return policy;
  }

  #routingOf({ routing }: ServedModel): Routing {
    return routing ?? this.#parts.config.routing;
  }
}

function parseHost({ url }: ServerConfig): string {
  return new URL(url).hostname;
}
