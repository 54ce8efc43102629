import type { ServedModel } from "../catalogue/interface.ts";
import { isBelievableInput } from "../health/believable-tokens.ts";
import { describe, isImplausible, isServersFault, isTransient, toFailure } from "../health/failures.ts";
import { Watchdog } from "../health/watchdog.ts";
import type { FleetRequest } from "../interface.ts";
import type { Member } from "../servers/member.ts";
import { type Dependencies, distrust } from "./attempts.ts";

/** Counting must be quick; a slow count is not worth the wait. */
const countTimeoutMs = 5000;
const countLimits = { firstOutput: countTimeoutMs, idle: countTimeoutMs, total: countTimeoutMs };

/** Counts a prompt's tokens on one server. Undefined: the server cannot count, or its count is not believable. */
export async function countOn(
  member: Member,
  model: ServedModel,
  request: Pick<FleetRequest, "prompt" | "thinking" | "recipe">,
  signal: AbortSignal,
  parts: Dependencies,
): Promise<number | undefined> {
  const watchdog = new Watchdog(parts.clock, countLimits, signal);
  try {
    const count = await member.engine.countTokens({ ...request, model: member.model }, watchdog.signal);
    if (count === undefined || isBelievableInput(count, request.prompt, model)) {
      return count;
    }
    distrust(member, `counted ${count} tokens in a prompt`, {}, parts);
  } catch (thrown) {
    signal.throwIfAborted();
    const error = toFailure(thrown, member.id, signal);
    if (isImplausible(error)) {
      distrust(member, describe(error), {}, parts);
    } else if (isTransient(error) || isServersFault(error)) {
      parts.logger.warn({ server: member.id, error: describe(error) }, "server could not count tokens");
    } else {
      throw error;
    }
  } finally {
    watchdog.close();
  }
  return undefined;
}
