import type { Run } from "../cores/run.ts";
import type { World } from "../world.ts";
import { leastTokens } from "./reasons.ts";

/**
 * Returns the judge of how requests are let in: with fewer tokens than they want only beside money for 64, and by no core that
 * has to find out first what it has, also where they waited for that long.
 */
export function judgeLetIn({ machines, history }: World): (run: Run) => void {
  return ({ requestId, machine, process, hold, admitted: wanted }) => {
    const { inputTokens = 0, outputTokens = wanted.outputTokens } = hold ?? {};
    if (outputTokens < wanted.outputTokens && inputTokens + outputTokens < leastTokens) {
      history.violation("admissions", `${requestId} was let in for ${inputTokens} + ${outputTokens} tokens`);
    }
    const life = machines.find((one) => one.process === process)?.life;
    if (life?.money.ledger.state().admits === false) {
      history.violation("admissions", `${requestId} was let in by ${machine}, which lets nothing in`);
    }
  };
}
