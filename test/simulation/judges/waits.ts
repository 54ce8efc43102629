import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";

/** Milliseconds after which a request has waited to the end of its patience, less what clocks run fast. */
const patienceMs = 1900;
/** Milliseconds within which whoever waits has taken what became free. */
const wokenMs = 100;

/**
 * Judges that who waits for money is woken when some becomes free: nobody is let in with all that it wants at the end of its
 * patience, and nothing became free just before. Only for SQLite: where cores share a database they also look by themselves.
 */
export function judgeWaits({ traffic, operators, history, isSqlite }: World): void {
  const runs = Map.groupBy(isSqlite ? traffic.runs : [], ({ accountId }) => accountId);
  for (const [accountId, mine] of runs) {
    const ends = operators.deeds.filter((deed) => deed.accountId === accountId).map(({ endsAt }) => endsAt);
    const moments = [...ends, ...mine.flatMap(momentsOf)].sort((a, b) => a - b);
    for (const { requestId, hold, admitted, tokenBound, enteredAt = 0, answeredAt = 0, process } of mine) {
      const isWhole = hold !== undefined && admitted.inputTokens + admitted.outputTokens === tokenBound;
      const last = moments.findLast((at) => at < answeredAt) ?? Number.POSITIVE_INFINITY;
      if (
        isWhole &&
        answeredAt - enteredAt >= patienceMs &&
        last < answeredAt - wokenMs &&
        process.wakesAt < enteredAt
      ) {
        const ms = Math.round(answeredAt - last);
        history.violation("answers", `${requestId} was let in ${ms} ms after it had what it waited for`);
      }
    }
  }
}

/** When a request may have freed money. */
function momentsOf({ counted, settledAt, answeredAt }: Run): number[] {
  return [...counted.map(({ at }) => at), settledAt, answeredAt].filter((at) => at !== undefined);
}
