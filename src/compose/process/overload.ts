import type { Registry } from "prom-client";
import type { Logger } from "#lib/logger.ts";
import { collectGarbage } from "#lib/overload/collect-garbage.ts";
import { readUsedMemory } from "#lib/overload/memory.ts";
import { type Overload, OverloadMonitor } from "#lib/overload/monitor.ts";
import { systemClock } from "#lib/time/clock.ts";
import type { Config } from "#src/config/schema.ts";
import { watchOverload } from "#src/telemetry/overload-metrics.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** Watches the load of this process until it stops. */
export function startOverload(
  { max_lag_ms, max_memory }: Config["overload"],
  lifecycle: Lifecycle,
  logger: Logger,
  registry: Registry,
): Overload {
  const limits = { maxLagMs: max_lag_ms, maxMemory: max_memory };
  const monitor = new OverloadMonitor({
    limits,
    clock: systemClock,
    readMemory: readUsedMemory,
    collectGarbage,
    logger,
  });
  lifecycle.readiness.overload = monitor;
  lifecycle.onStop("the watch over the load", async () => monitor.stop());
  watchOverload(registry, monitor);
  return monitor;
}
