import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";

/** Milliseconds after which a request has waited to the end of its patience, less what clocks run fast. */
const patienceMs = 1900;
/** Milliseconds within which whoever waits has taken what became free. */
const wokenMs = 100;

/**
 * Judges that who waits for money is woken when some becomes free: nobody is let in with all that it wants at the end of its
 * patience, and nothing became free, and nobody before it left, just then. Only for SQLite: where cores share a database they
 * also look by themselves.
 */
export function judgeWaits({ traffic, operators, history, isSqlite }: World): void {
  for (const run of isSqlite ? traffic.runs : []) {
    const { requestId, accountId, process, hold, admitted, tokenBound, enteredAt = 0, answeredAt = 0 } = run;
    const isWhole = hold !== undefined && admitted.inputTokens + admitted.outputTokens === tokenBound;
    if (!isWhole || answeredAt - enteredAt < patienceMs || process.wakesAt >= enteredAt) {
      continue;
    }
    const others = traffic.runs.filter((one) => one !== run && one.accountId === accountId);
    const ends = operators.deeds.filter((deed) => deed.accountId === accountId).map(({ endsAt }) => endsAt);
    const moments = [...ends, ...others.flatMap(momentsOf)];
    if (!moments.some((at) => at <= answeredAt && at >= answeredAt - wokenMs)) {
      history.violation(
        "answers",
        `${requestId} was let in at the end of its patience, long after it had what it waited for`,
      );
    }
  }
}

/** When a request may have freed money, or left its place. */
function momentsOf({ counted, settledAt, answeredAt }: Run): number[] {
  return [...counted.map(({ at }) => at), settledAt, answeredAt].filter((at) => at !== undefined);
}
