import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import type { Hold } from "#src/money/model/ledger.ts";

/** Counts the tokens that a call is charged for. When its caller leaves, a call is over before it is charged. */
export class TokenTally {
  readonly #leave: (tokens: number) => void;
  #tokens = 0;
  #isHeld = false;
  #isOver = false;

  /** `leave` is called when both the call and its hold have ended. */
  constructor(leave: (tokens: number) => void) {
    this.#leave = leave;
  }

  /** The call got a hold, which will be settled or released. */
  held(): void {
    this.#isHeld = true;
  }

  /** The hold was settled for these tokens, or released after an engine may have read them. */
  settled({ inputTokens, outputTokens }: ChargedTokens): void {
    this.#tokens += inputTokens + outputTokens;
    this.#isHeld = false;
    this.#leaveIfEnded();
  }

  /** The call is over. */
  over(): void {
    this.#isOver = true;
    this.#leaveIfEnded();
  }

  #leaveIfEnded(): void {
    if (this.#isOver && !this.#isHeld) {
      this.#leave(this.#tokens);
    }
  }
}

/** Counts charged tokens for the limits of the caller's key. Undefined: the key has no token limit. */
export const tokenTallyKey = createContextKey<TokenTally | undefined>(undefined, { description: "token tally" });

const noTokens = { inputTokens: 0, outputTokens: 0 };

/** A hold whose tokens also count for the limits of the caller's key, if the key has a tally. */
export function tallied(hold: Hold, values: ContextValues): Hold {
  const tally = values.get(tokenTallyKey);
  if (tally === undefined) {
    return hold;
  }
  tally.held();
  return {
    runId: hold.runId,
    inputTokens: hold.inputTokens,
    outputTokens: hold.outputTokens,
    progress: (tokens) => hold.progress(tokens),
    release(read = noTokens) {
      tally.settled(read);
      hold.release();
    },
    settle(tokens, ...rest) {
      tally.settled(tokens);
      return hold.settle(tokens, ...rest);
    },
  };
}
