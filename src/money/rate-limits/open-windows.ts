import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { MemoryWindows } from "./memory.ts";
import { RedisWindows } from "./redis.ts";
import type { Windows } from "./windows.ts";

/** Opens the windows that a URL names: `memory:` for this process alone, `redis://` or `rediss://` for all cores. */
export async function openWindows(
  url: string,
  parts: { readonly clock: Clock; readonly random: Random; readonly logger: Logger },
): Promise<Windows> {
  return url === "memory:" ? new MemoryWindows(parts.clock) : RedisWindows.open({ url, ...parts });
}
