import { Counter, type Registry } from "prom-client";
import type { BoundName, ListenerName } from "#lib/door/bounds.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";

/** Milliseconds between two lines of the log: a flood of clients is no flood of lines. */
const intervalMs = 60_000;

/** Counts the clients that listeners refuse, and logs their sums once a minute while there are any. */
export function doorMetrics(registry: Registry, logger: Logger, clock: Pick<Clock, "after">) {
  const counter = new Counter({
    name: "tollgate_door_refused_total",
    help: "Clients that a listener refused or cut off to keep room for others, by listener and bound.",
    labelNames: ["listener", "bound"],
    registers: [registry],
  });
  let sums = new Map<string, number>();
  return (listener: ListenerName, bound: BoundName): void => {
    counter.inc({ listener, bound });
    const name = `${listener} ${bound}`;
    if (sums.size === 0) {
      clock.after(intervalMs, () => {
        logger.warn({ refused: Object.fromEntries(sums) }, "clients were refused to keep room for others");
        sums = new Map();
      });
    }
    sums.set(name, (sums.get(name) ?? 0) + 1);
  };
}
