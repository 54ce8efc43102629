import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { Random } from "../../runtime/random.ts";
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
