import type { ServedModel } from "./catalogue/interface.ts";
import { PooledFleet } from "./fleet.ts";
import type { Fleet, FleetObserver } from "./interface.ts";
import { Roster, type Dependencies as RosterDependencies } from "./roster/roster.ts";

interface Dependencies extends RosterDependencies {
  readonly models: readonly ServedModel[];
  readonly observer: FleetObserver;
}

/** Creates the fleet and starts its health checks. */
export function createFleet(parts: Dependencies): Fleet {
  const { models, config, clock, logger, observer } = parts;
  const roster = new Roster(parts);
  roster.prepare(models).apply();
  return new PooledFleet({ roster, config, clock, logger, observer });
}
