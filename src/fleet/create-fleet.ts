import type { ServedModel } from "../catalogue/interface.ts";
import type { FleetConfig, ModelConfig, ServerConfig } from "../config/schema.ts";
import type { Engine } from "../engines/interface.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Random } from "../runtime/random.ts";
import { PooledFleet } from "./fleet.ts";
import { HealthChecker } from "./health.ts";
import type { Fleet, FleetObserver } from "./interface.ts";
import { Member, memberId } from "./member.ts";
import { Pool } from "./pool.ts";
import { LeastLoad } from "./routing/least-load.ts";
import type { Policy } from "./routing/policy.ts";
import { PrefixAffinity } from "./routing/prefix-affinity.ts";
import { RoundRobin } from "./routing/round-robin.ts";

/** What a fleet is made of. */
export interface FleetSettings {
  readonly models: readonly ServedModel[];
  readonly config: FleetConfig;
  /** Makes the adapter of one server of one model. */
  readonly engines: (server: ServerConfig, model: ModelConfig) => Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly observer: FleetObserver;
}

/** Makes the fleet and begins to check its servers' health. */
export function createFleet(settings: FleetSettings): Fleet {
  const { models, config, clock, logger, observer } = settings;
  const pools = new Map(models.map((model) => [model.id, createPool(model, settings)]));
  const checkers = [...pools.values()].flatMap((pool) =>
    pool.members.map(
      (member) =>
        new HealthChecker(member, {
          clock,
          logger,
          intervalMs: config.health_interval_s * 1000,
          onHealthy: () => {
            pool.forget(member); // it may have been started anew
            pool.pump();
          },
        }),
    ),
  );
  return new PooledFleet({ pools, checkers, config, clock, logger, observer });
}

function createPool(model: ServedModel, { config, engines, clock, random }: FleetSettings): Pool {
  const members = model.servers.map(
    (server) =>
      new Member(memberId(server, model.id), model.id, server, engines(server, model), {
        clock,
        openMs: config.health_interval_s * 1000,
        onFree: () => pool.pump(),
      }),
  );
  const policy = createPolicy(members, config, random);
  const pool: Pool = new Pool(model.id, members, policy, clock, config.queue);
  return pool;
}

function createPolicy(members: readonly Member[], { routing, prefix_blocks }: FleetConfig, random: Random): Policy {
  switch (routing) {
    case "prefix":
      return new PrefixAffinity(members, prefix_blocks, random);
    case "least-load":
      return new LeastLoad(random);
    case "round-robin":
      return new RoundRobin();
  }
}
