import type { Config } from "../schema.ts";
import type { Secrets } from "../secrets/secrets.ts";

/**
 * What `serve` lacks to share its port with other processes, in words. Which process a client reaches is chance, so
 * books or limits of its own would show each client only a part of its money, and accept its limits several times.
 * Undefined: nothing, or the port is not shared.
 */
export function findUnshared(
  { reuse_port }: Pick<Config["listen"], "reuse_port">,
  { storageUrl, rateLimitUrl }: Pick<Secrets, "storageUrl" | "rateLimitUrl">,
): string | undefined {
  const missing = [
    ...(storageUrl.startsWith("sqlite:")
      ? ["PostgreSQL (TOLLGATE_STORAGE_URL or storage.url: postgresql://…), because SQLite allows one process"]
      : []),
    ...(rateLimitUrl === "memory:"
      ? [
          "Valkey or Redis (TOLLGATE_RATE_LIMIT_URL or rate_limits.url: redis://…), because each process has a memory of its own",
        ]
      : []),
  ];
  return reuse_port && missing.length > 0 ? `listen.reuse_port needs ${missing.join(", and ")}` : undefined;
}
