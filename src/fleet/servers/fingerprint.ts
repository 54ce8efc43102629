import { createHash } from "node:crypto";
import type { ServerConfig } from "#src/config/schema.ts";
import type { ServedModel } from "../catalogue/interface.ts";
import { readAuthorization } from "../engines/shared/authorization.ts";

/** Digests of the API keys that servers demand, by the files that hold them. */
export type KeyDigests = ReadonlyMap<string, string>;

/** Reads the API keys of all servers. Throws an error with a text for people where it cannot. */
export function digestKeys(models: readonly ServedModel[]): KeyDigests {
  const digests = new Map<string, string>();
  for (const server of models.flatMap(({ servers }) => servers)) {
    const authorization = readAuthorization(server);
    if (server.api_key_file !== undefined && authorization !== undefined) {
      digests.set(server.api_key_file, createHash("sha256").update(authorization).digest("hex"));
    }
  }
  return digests;
}

/**
 * Everything about a server and its model that its adapter may depend on: all but prices, routing and weights. When it
 * changes, the server needs a new adapter.
 */
export function toFingerprint(
  { weight: _____, ...server }: ServerConfig,
  { price: _, routing: __, servers: ___, createdAt: ____, ...model }: ServedModel,
  keys: KeyDigests,
) {
  return JSON.stringify([server, model, keys.get(server.api_key_file ?? "")]);
}
