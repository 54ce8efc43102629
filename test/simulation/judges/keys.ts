import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";

/** Milliseconds within which an ended key and a frozen account stop everywhere, and by which cores' clocks differ. */
const stopsMs = 10_000;
const apartMs = 1000;

/**
 * Returns the judge of admitted requests whose key had ended, or whose account was frozen: at once on the core that told it,
 * and after ten seconds everywhere. A database that loses something forgets a freeze, and a wrong clock when a key ends.
 */
export function judgeKeys(world: World): (run: Run) => void {
  const { history, keys } = world;
  return ({ requestId, accountId, keyId, machine, process, lookedUpAt = Number.NEGATIVE_INFINITY }) => {
    if (keys === undefined || world.wentBack || world.clocksMoved) {
      return;
    }
    for (const id of [keyId, accountId]) {
      const { at, process: told } = keys.ended.get(id) ?? { at: Number.POSITIVE_INFINITY };
      const lateMs = lookedUpAt - at;
      if (lateMs > apartMs + (process === told ? 0 : stopsMs)) {
        history.violation(
          "keys",
          `${requestId} on ${machine} was let in ${Math.round(lateMs)} ms after ${id} had ended`,
        );
      }
    }
  };
}
