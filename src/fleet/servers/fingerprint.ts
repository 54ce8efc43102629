import type { ServedModel } from "../../catalogue/interface.ts";
import type { ServerConfig } from "../../config/schema.ts";

/** Prices, routing and weights say nothing to a server; whatever else of its model has changed, it may need another adapter for. */
export function toFingerprint(
  { weight: _____, ...server }: ServerConfig,
  { price: _, routing: __, servers: ___, createdAt: ____, ...model }: ServedModel,
) {
  return JSON.stringify([server, model]);
}
