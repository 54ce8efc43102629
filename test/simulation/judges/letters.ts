import { agedReason } from "#src/money/ledger/settlement/aged-charges.ts";
import type { World } from "../world.ts";
import { readArchived } from "./archives.ts";

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

/**
 * Judges that no core that lives makes a charge once more that is in an archive: it knows what it has stored, however long
 * it slept. Call it before cores end.
 */
export function judgeRemade(world: World): void {
  const { server, history, wentBack, traffic } = world;
  const letters = new Set(server.tables.all<{ id: string }>("select id from dead_letter").map(({ id }) => id));
  if (wentBack || letters.size === 0) {
    return;
  }
  const archived = new Set(readArchived(world).map(({ runId }) => runId));
  for (const { hold, state, process } of traffic.runs) {
    const runId = hold?.runId ?? "";
    if (state === "acknowledged" && process.alive && letters.has(runId) && archived.has(runId)) {
      history.violation("dead letters", `the charge of run ${runId} is in an archive, and was made once more`);
    }
  }
}
