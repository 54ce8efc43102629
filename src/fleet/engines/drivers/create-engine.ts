import type { Clock } from "#lib/time/clock.ts";
import type { FleetConfig, ModelConfig, ServerConfig } from "#src/config/schema.ts";
import type { Engine } from "../interface.ts";
import { readAuthorization } from "../shared/authorization.ts";
import { findDriver } from "./registry.ts";

/** Connections beyond a server's capacity. They serve health, metrics and counting while the server is full. */
const spareConnections = 4;

/** Creates the adapter of one server of one model. `onLoading` reports how far a model is loaded into this process. */
export function createEngine(
  server: ServerConfig,
  model: ModelConfig,
  fleet: FleetConfig,
  clock: Clock,
  onLoading: (done: number, total: number) => void = () => {},
): Engine {
  const authorization = readAuthorization(server);
  return findDriver(server).create(server.url, {
    kind: model.kind,
    capacity: server.capacity,
    connections: server.capacity + spareConnections,
    clock,
    connectTimeoutMs: fleet.connect_timeout_s * 1000,
    ...(server.address !== undefined && { address: server.address }),
    ...(authorization !== undefined && { authorization }),
    silenceTimeoutMs: 1000 * (1 + Math.max(fleet.first_token_timeout_s, fleet.idle_timeout_s)),
    systemAnywhere: model.system_anywhere,
    contextLength: model.context_length,
    onLoading,
  });
}
