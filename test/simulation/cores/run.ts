import type { ChargedTokens } from "../../../src/metering/interface.ts";
import type { Hold } from "../../../src/metering/ledger/interface.ts";
import type { SettleStatus } from "../../../src/metering/ledger/settlement/interface.ts";
import type { Rates } from "../../../src/metering/prices/interface.ts";
import type { SimulatedProcess } from "../world/process.ts";

/** A request as its client and the engine know it: what judges compare the books with. */
export interface Run {
  readonly requestId: string;
  readonly accountId: string;
  readonly budgetId: string | undefined;
  readonly model: string;
  readonly machine: string;
  readonly process: SimulatedProcess;
  readonly askedAt: number;
  hold: Hold | undefined;
  /** What it may cost at most, a token. */
  terms: Rates;
  admitted: ChargedTokens;
  /** What the engine had counted, and when. */
  readonly counted: { readonly at: number; readonly tokens: ChargedTokens }[];
  /** Asked: for the hold. Held: it runs. Settling: it has ended and waits. Gone: its process died before it was told more. */
  state: "asked" | "refused" | "held" | "released" | "settling" | "acknowledged" | "failed";
  /** What it was settled as. */
  settled: { readonly tokens: ChargedTokens; readonly status: SettleStatus } | undefined;
  /** When it was told that it is charged. */
  settledAt: number | undefined;
  /** Whether the charge may be lost for a reason that nobody has promised anything about. */
  mayBeLost: boolean;
  /** Why it was refused. */
  refusal: string | undefined;
  readonly keyId: string;
  /** Whether its engine counts more than it may. */
  lies: boolean;
  /** When its rate limits let it in, and when and with how many tokens it left them. Undefined: not yet. */
  enteredAt: number | undefined;
  left: { readonly at: number; readonly tokens: number } | undefined;
  /** The most tokens that it may have, as it told the limits. */
  readonly tokenBound: number;
}

/** The tokens that are charged for a count, as the engine may have said anything. */
export function toCharged(counted: ChargedTokens, { admitted, terms }: Pick<Run, "admitted" | "terms">): ChargedTokens {
  const whole = (count: number) => Number.isSafeInteger(count) && count >= 0;
  const cost = counted.inputTokens * terms.input + counted.outputTokens * terms.output;
  if (whole(counted.inputTokens) && whole(counted.outputTokens) && cost <= Number.MAX_SAFE_INTEGER) {
    return counted;
  }
  const bounded = (count: number, most: number) => (count > 0 ? Math.min(Math.floor(count), most) : 0);
  return {
    inputTokens: bounded(counted.inputTokens, admitted.inputTokens),
    outputTokens: bounded(counted.outputTokens, admitted.outputTokens),
  };
}
