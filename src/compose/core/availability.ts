import { keep } from "#lib/time/kept.ts";
import { countRequests } from "#src/services/status/availability/count-requests.ts";
import { readServiceHistory } from "#src/services/status/availability/history.ts";
import type { ServiceHistory } from "#src/services/status/availability/interface.ts";
import { ModelDays } from "#src/services/status/availability/model-days.ts";
import type { CallObserver } from "#src/wire/interceptors/observation/observe.ts";
import type { Foundation } from "./foundation.ts";

/** How long what was read is told: everybody may ask. */
const keptMs = 30_000;

/** How available the service is. */
export interface Availability {
  readonly days: ModelDays;
  /** Counts calls that are over. */
  readonly observe: CallObserver;
  readonly readHistory: () => Promise<ServiceHistory>;
  stop(): Promise<void>;
}

export function composeAvailability({ storage, clock, logger, catalogue, metrics }: Foundation): Availability {
  const days = new ModelDays({ storage, clock, logger });
  const models = () => catalogue.list().map(({ id }) => id);
  return {
    days,
    observe: countRequests({ days, counted: metrics.provider, isServed: (model) => models().includes(model) }),
    readHistory: keep(clock, keptMs, () => readServiceHistory(storage, models(), clock.now())),
    stop: days.start(),
  };
}
