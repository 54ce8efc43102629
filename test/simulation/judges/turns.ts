import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";

/** Milliseconds of waiting after which a request may look at the money though it is not its turn. */
const patienceMs = 1900;

/**
 * Judges that who waits for an account's money on a core is served in the order of arrival. Requests with budgets may pass
 * each other, and one whose id was asked before is looked up first. Not for SQLite, where some come in another order.
 */
export function judgeTurns({ traffic, history, isSqlite }: World): void {
  if (isSqlite) {
    return;
  }
  const asked = Map.groupBy(traffic.runs, ({ requestId }) => requestId);
  const plain = traffic.runs.filter(
    ({ budget, hold, requestId, enteredAt, answeredAt }) =>
      budget === undefined &&
      hold !== undefined &&
      at(answeredAt) - at(enteredAt) < patienceMs &&
      asked.get(requestId)?.length === 1,
  );
  for (const runs of Map.groupBy(plain, ({ process, accountId }) => `${process.name} ${accountId}`).values()) {
    let last: Run | undefined;
    for (const run of runs.toSorted((a, b) => at(a.enteredAt) - at(b.enteredAt))) {
      if (last !== undefined && at(run.enteredAt) > at(last.enteredAt) && at(run.answeredAt) < at(last.answeredAt)) {
        history.violation(
          "admissions",
          `${run.requestId} was let in before ${last.requestId}, which had waited for longer`,
        );
      }
      last = last !== undefined && at(last.answeredAt) > at(run.answeredAt) ? last : run;
    }
  }
}

const at = (moment: number | undefined) => moment ?? 0;
