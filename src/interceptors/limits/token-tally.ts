import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Hold } from "../../metering/ledger/interface.ts";

/** Tokens that a run was charged for, as far as it has come. */
export interface TokenTally {
  tokens: number;
}

/** Counts for the limits of the caller's key. Undefined: there is nothing to count for. */
export const tokenTallyKey = createContextKey<TokenTally | undefined>(undefined, { description: "token tally" });

/** A hold whose charge is counted for the limits of the caller's key as well, if anybody counts. */
export function tallied(hold: Hold, values: ContextValues): Hold {
  const tally = values.get(tokenTallyKey);
  if (tally === undefined) {
    return hold;
  }
  return {
    runId: hold.runId,
    outputTokens: hold.outputTokens,
    progress: (tokens) => hold.progress(tokens),
    release: () => hold.release(),
    settle(tokens, ...rest) {
      tally.tokens += tokens.inputTokens + tokens.outputTokens;
      return hold.settle(tokens, ...rest);
    },
  };
}
