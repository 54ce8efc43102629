import type { Registry } from "prom-client";
import type { BoundName, ListenerName } from "#lib/door/bounds.ts";
import { Door, type DoorOptions } from "#lib/door/door.ts";
import { refusalLines } from "#lib/errors/refusal-lines.ts";
import type { Logger } from "#lib/logger.ts";
import { systemClock } from "#lib/time/clock.ts";
import type { Config } from "#src/config/schema.ts";
import { doorMetrics } from "#src/telemetry/metrics/door-metrics.ts";

/** Makes the doors of a process's listeners, whose refusals are counted together. */
export interface Doors {
  make(listener: ListenerName, options?: Omit<DoorOptions, "listener" | "lines" | "onRefused">): Door;
  /** Counts a refusal that another part of the process decided on. */
  refused(listener: ListenerName, bound: BoundName): void;
}

export function createDoors(registry: Registry, logger: Logger): Doors {
  const onRefused = doorMetrics(registry, logger, systemClock);
  return {
    make(listener, options = {}) {
      const lines = refusalLines(logger, systemClock, { listener });
      return new Door({ ...options, listener, lines, onRefused });
    },
    refused: onRefused,
  };
}

/** The connections that a listener with the configured limits takes. */
export function connectionLimits({ connections, connections_per_address, header_timeout_s }: Config["http"]) {
  return { connections, connectionsPerAddress: connections_per_address, firstBytesMs: header_timeout_s * 1000 };
}

/** Milliseconds that a head, and a whole request, may take. */
export function requestPatience({ header_timeout_s, body_timeout_s }: Config["http"]) {
  return { headerTimeoutMs: header_timeout_s * 1000, requestTimeoutMs: body_timeout_s * 1000 };
}
