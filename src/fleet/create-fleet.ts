import type { ServedModel } from "./catalogue/interface.ts";
import { PooledFleet } from "./fleet.ts";
import type { Fleet, FleetObserver } from "./interface.ts";
import { Roster, type RosterSettings } from "./roster.ts";

/** Dependencies. */
export interface FleetSettings extends RosterSettings {
  readonly models: readonly ServedModel[];
  readonly observer: FleetObserver;
}

/** Creates the fleet and starts its health checks. */
export function createFleet(settings: FleetSettings): Fleet {
  const { models, config, clock, logger, observer } = settings;
  const roster = new Roster(settings);
  roster.prepare(models).apply();
  return new PooledFleet({ roster, config, clock, logger, observer });
}
