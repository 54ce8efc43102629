import type { SettleStatus } from "#src/money/model/charges/settlement.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import type { Hold } from "#src/money/model/ledger.ts";
import type { Rates } from "#src/money/model/rates.ts";
import type { Budget } from "#src/wire/principal.ts";
import type { SimulatedProcess } from "../world/process.ts";

/** A request as its client and its engine know it. Judges compare the books with it. */
export interface Run {
  readonly requestId: string;
  readonly accountId: string;
  /** The budget of its key, with the limit of the moment in which it was asked. */
  readonly budget: Budget | undefined;
  readonly model: string;
  readonly machine: string;
  readonly process: SimulatedProcess;
  readonly askedAt: number;
  /** When its key was looked up. Undefined: not yet, or keys are the world's own. */
  lookedUpAt: number | undefined;
  /** When it was let in, or refused. Undefined: neither. */
  answeredAt: number | undefined;
  hold: Hold | undefined;
  /** The highest rates for its tokens. */
  terms: Rates;
  admitted: ChargedTokens;
  /** What the engine had counted, and when, or the least that it will have counted of the prompt. */
  readonly counted: { readonly at: number; readonly tokens: ChargedTokens; readonly isBound: boolean }[];
  /**
   * asked: waits for its hold. held: it runs. settling: it has ended and waits for its charge. gone: its process died
   * before it learned more.
   */
  state: "asked" | "refused" | "held" | "released" | "settling" | "acknowledged" | "failed";
  /** The tokens and the status with which it was settled. */
  settled: { readonly tokens: ChargedTokens; readonly status: SettleStatus } | undefined;
  /** The cost that its client was told. */
  told: number | undefined;
  /** When its charge was acknowledged. */
  settledAt: number | undefined;
  /** Whether the charge may be lost for a reason against which nothing is promised. */
  mayBeLost: boolean;
  /** Why it was refused. */
  refusal: string | undefined;
  readonly keyId: string;
  /** What it says of who uses the service. Undefined: nothing. */
  readonly stated: Readonly<Record<string, string>> | undefined;
  /**
   * Its labels as its core settled them, the day of UTC by that core's clock, and how many requests had theirs before.
   * Undefined: it was not asked for any yet.
   */
  labelled: { readonly labels: string | undefined; readonly day: number; readonly before: number } | undefined;
  /** Whether its engine counts more than it may. */
  lies: boolean;
  /** When its rate limits admitted it, and when it left them with how many tokens. Undefined: not yet. */
  enteredAt: number | undefined;
  left: { readonly at: number; readonly tokens: number } | undefined;
  /** The bound on its tokens that the limits were given. */
  readonly tokenBound: number;
}

/** The tokens that are charged for an engine's count, which may be anything. */
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
