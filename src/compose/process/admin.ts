import type { Registry } from "prom-client";
import type { ServerTls } from "../../../lib/net/tls-identity.ts";
import { startAdminServer } from "../../telemetry/admin-server.ts";
import { createRegistry } from "../../telemetry/registry.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** The server of a process's metrics and health. */
export interface Admin {
  /** host:port. */
  readonly address: string;
  /** The registry of the metrics. */
  readonly registry: Registry;
}

/** Serves metrics and health until the very end, so that a supervisor sees the process drain. */
export async function startAdmin(address: string, lifecycle: Lifecycle, tls: ServerTls | undefined): Promise<Admin> {
  const registry = createRegistry(lifecycle.readiness);
  const server = await startAdminServer(address, registry, lifecycle.readiness, tls);
  lifecycle.onStop("the admin server", () => server.close());
  return { address: server.address, registry };
}
