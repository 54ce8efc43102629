import { Redis } from "ioredis";
import { type Finding, patienceMs, toReason } from "../finding.ts";

/** Checks that Valkey or Redis can be used. */
export async function checkRateLimits(url: string, storageUrl: string): Promise<Finding> {
  const part = "rate limits";
  if (url === "memory:") {
    return storageUrl.startsWith("sqlite:")
      ? { part, status: "ok", message: "in memory" }
      : {
          part,
          status: "warning",
          message:
            "in memory: several cores would each allow the whole limit; set TOLLGATE_RATE_LIMIT_URL or rate_limits.url to a redis:// URL",
        };
  }
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: patienceMs,
    commandTimeout: patienceMs,
    retryStrategy: null,
    disconnectTimeout: 100,
  });
  let reason: unknown;
  redis.on("error", (error) => {
    reason = error;
  });
  const where = `Valkey or Redis at ${redis.options.host}:${redis.options.port}`;
  try {
    await redis.connect();
    await redis.eval("return redis.call('TIME')", 0);
    return { part, status: "ok", message: `${where} runs scripts` };
  } catch (error) {
    const mend = "check that it runs and lets this user run scripts, and TOLLGATE_RATE_LIMIT_URL or rate_limits.url";
    return { part, status: "wrong", message: `${where}: ${toReason(reason ?? error)}: ${mend}` };
  } finally {
    redis.disconnect();
  }
}
