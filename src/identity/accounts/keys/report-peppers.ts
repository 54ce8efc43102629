import type { Pepper } from "#lib/ids/pepper.ts";
import type { Logger } from "#lib/logger.ts";
import type { ApiKeys } from "./api-keys.ts";

/**
 * Logs at the start how far the change to another pepper has come: how many keys wait for their next use to get a
 * digest by the newest pepper, and how many are refused because their pepper is gone.
 */
export async function reportPeppers(
  keys: Pick<ApiKeys, "countByPepper">,
  peppers: readonly [Pepper, ...Pepper[]],
  logger: Logger,
): Promise<void> {
  const [newest] = peppers;
  for (const [pepper, count] of await keys.countByPepper()) {
    const facts = { pepper, keys: count };
    if (!peppers.some(({ version }) => version === pepper)) {
      logger.warn(facts, "keys are refused: their pepper is gone");
    } else if (pepper !== newest.version) {
      logger.info(facts, "keys have not been used since the pepper changed");
    }
  }
}
