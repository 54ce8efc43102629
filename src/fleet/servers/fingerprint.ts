import type { ServerConfig } from "#src/config/schema.ts";
import type { ServedModel } from "../catalogue/interface.ts";

/**
 * Everything about a server and its model that its adapter may depend on: all but prices, routing and weights. When it
 * changes, the server needs a new adapter.
 */
export function toFingerprint(
  { weight: _____, ...server }: ServerConfig,
  { price: _, routing: __, servers: ___, createdAt: ____, ...model }: ServedModel,
) {
  return JSON.stringify([server, model]);
}
