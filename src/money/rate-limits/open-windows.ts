import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { MemoryWindows } from "./memory.ts";
import type { Windows } from "./windows.ts";

/** Opens the windows that a URL names: `memory:` for this process alone, `redis://` or `rediss://` for all cores. */
export async function openWindows(
  url: string,
  parts: { readonly clock: Clock; readonly random: Random; readonly logger: Logger },
): Promise<Windows> {
  if (url === "memory:") {
    return new MemoryWindows(parts.clock);
  }
  // Not before: a core by itself does not hold the client of Redis in its memory.
  const { RedisWindows } = await import("./redis.ts");
  return RedisWindows.open({ url, ...parts });
}
