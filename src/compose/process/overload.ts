import type { Registry } from "prom-client";
import type { Logger } from "#lib/logger.ts";
import { collectGarbage } from "#lib/overload/collect-garbage.ts";
import { BoundedIntake, type Intake } from "#lib/overload/intake.ts";
import { readUsedMemory } from "#lib/overload/memory.ts";
import { type Overload, OverloadMonitor } from "#lib/overload/monitor.ts";
import { systemClock } from "#lib/time/clock.ts";
import type { Config } from "#src/config/schema.ts";
import { watchOverload } from "#src/telemetry/metrics/overload-metrics.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** What keeps a process from more work than it can do. */
export interface LoadControl {
  readonly overload: Overload;
  /** Lets requests begin in their turn. */
  readonly intake: Intake;
}

/** Watches the load of this process until it stops. */
export function startOverload(
  { max_lag_ms, max_memory, max_wait_ms }: Config["overload"],
  lifecycle: Lifecycle,
  logger: Logger,
  registry: Registry,
): LoadControl {
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
  const intake = new BoundedIntake({ maxWaitMs: max_wait_ms, clock: systemClock });
  watchOverload(registry, monitor, intake);
  return { overload: monitor, intake };
}
