import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";

/** Milliseconds of waiting after which a request may look at the money though it is not its turn. */
const patienceMs = 1900;

/** Milliseconds after which an id is no longer taken for new, less what clocks differ. */
const freshMs = 9000;

/**
 * Judges that who waits for an account's money on a core is served in the order of arrival. Requests with budgets may pass
 * each other. One whose id may have run before is looked up first, and look-ups overtake each other: an id that was asked
 * twice, one that was made long before, because its core slept, and every id where clocks are wrong.
 */
export function judgeTurns({ traffic, history, clocksMoved }: World): void {
  if (clocksMoved) {
    return;
  }
  const asked = Map.groupBy(traffic.runs, ({ requestId }) => requestId);
  const plain = traffic.runs.filter(
    ({ budget, hold, requestId, askedAt, enteredAt, answeredAt }) =>
      budget === undefined &&
      hold !== undefined &&
      at(answeredAt) - at(enteredAt) < patienceMs &&
      at(enteredAt) - askedAt < freshMs &&
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
