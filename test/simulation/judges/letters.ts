import { agedReason } from "#src/money/ledger/settlement/aged-charges.ts";
import type { World } from "../world.ts";

/**
 * Judges that no charge becomes a dead letter, except where the world explains it: the database has forgotten the account
 * or the price list, or half a year has passed since a journal was written.
 */
export function judgeLetters({ server, history, night, wentBack }: World): void {
  const letters = server.tables.all<{ id: string; reason: string }>("select id, reason from dead_letter");
  for (const { id, reason } of letters) {
    const isExplained = wentBack || (night !== undefined && reason === agedReason);
    if (!isExplained) {
      history.violation("dead letters", `the charge of run ${id} could not be made: ${reason}`);
    }
  }
}
