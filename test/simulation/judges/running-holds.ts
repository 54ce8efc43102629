import type { RunningHold } from "#src/money/ledger/hold.ts";
import type { World } from "../world.ts";

/**
 * Returns the judge of running requests: once its prompt is counted, none holds more than its answer may still cost beside
 * that count.
 */
export function judgeRunningHolds({ traffic, history }: World): { look(): void } {
  return {
    look() {
      for (const { requestId, state, process, hold, counted, admitted, lies } of traffic.runs) {
        const prompt = counted.find(({ tokens, isBound }) => !isBound && tokens.inputTokens > 0)?.tokens.inputTokens;
        if (state !== "held" || !process.alive || lies || prompt === undefined) {
          continue;
        }
        const { amount, rates } = hold as RunningHold;
        const most = prompt * rates.input + admitted.outputTokens * rates.output;
        if (amount > most) {
          history.violation("holds", `${requestId} holds ${amount} though its prompt is counted, which leaves ${most}`);
        }
      }
    },
  };
}
