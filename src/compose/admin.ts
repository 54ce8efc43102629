import { collectDefaultMetrics, Registry } from "prom-client";
import { startAdminServer } from "../telemetry/admin-server.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** Serves metrics and health until the very end, so that a supervisor sees the process drain. Returns host:port. */
export async function startAdmin(address: string, lifecycle: Lifecycle): Promise<string> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const server = await startAdminServer(address, registry, lifecycle.readiness);
  lifecycle.onStop(() => server.close());
  return server.address;
}
