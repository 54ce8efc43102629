import type { Registry } from "prom-client";
import type { Logger } from "#lib/logger.ts";
import type { ServerTls } from "#lib/net/tls-identity.ts";
import { startAdminServer } from "#src/telemetry/admin-server.ts";
import { createRegistry } from "#src/telemetry/metrics/registry.ts";
import { createDoors, type Doors } from "./doors.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** The server of a process's metrics and health. */
export interface Admin {
  /** host:port. */
  readonly address: string;
  /** The registry of the metrics. */
  readonly registry: Registry;
  /** Makes the doors of the process's other listeners. */
  readonly doors: Doors;
}

/** Serves metrics and health until the very end, so that a supervisor sees the process drain. */
export async function startAdmin(
  address: string,
  lifecycle: Lifecycle,
  logger: Logger,
  tls: ServerTls | undefined,
): Promise<Admin> {
  const registry = createRegistry(lifecycle.readiness);
  const doors = createDoors(registry, logger);
  const door = doors.make("admin", { limits: { connections: 1000, connectionsPerAddress: 100 } });
  const server = await startAdminServer(address, registry, lifecycle.readiness, tls, door);
  lifecycle.onStop("the admin server", () => server.close());
  return { address: server.address, registry, doors };
}
