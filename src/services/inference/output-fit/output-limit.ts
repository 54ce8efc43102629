import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { ServedModel } from "#src/fleet/catalogue/interface.ts";
import { unboundedEngines } from "#src/fleet/engines/interface.ts";

// The length of an answer is determined in this order:
// 1. the client's wish, at most the model's max_output (limitOutput);
// 2. the room that the context leaves; the prompt is counted where bound and estimate are in doubt (limitOutput);
// 3. the balance: the ledger's hold may be for less output (request/plan.ts);
// 4. the engine refuses with its own numbers: once or twice again with what they leave (fitted-generation.ts);
// 5. it still refuses, and the prompt was only estimated: counted, and once again with the rest (fitted-generation.ts).

/** The tokens that a request may use. */
export interface TokenLimits {
  /** An upper bound on the engine's count of the prompt; the count itself where it is known. */
  readonly input: number;
  /** The most output tokens. */
  readonly output: number;
  /** Whether prompt and output may still exceed the context, which then only the engine can tell. */
  readonly mayPass: boolean;
}

/** What is known about a prompt's length, in tokens. */
export interface PromptLength {
  /** An upper bound. */
  readonly bound: number;
  /** An estimate. */
  readonly estimate: number;
  /** The engine's own count. Undefined: the engine cannot count. */
  readonly count: () => Promise<number | undefined>;
}

/**
 * Clamps the output to the model's maximum and to what the context leaves. The engine's tokenizer, which reads the
 * whole prompt once more, is asked only when neither the bound nor the estimate says that all fits. Without a tokenizer
 * the engine's own refusal decides, or the estimate where an engine may not refuse. Throws CONTEXT_LENGTH_EXCEEDED.
 * Returns at once unless the engine is asked.
 */
export function limitOutput(
  model: ServedModel,
  asked: number | undefined,
  prompt: PromptLength,
): TokenLimits | Promise<TokenLimits> {
  const context = model.context_length;
  const wanted = Math.min(asked ?? Number.POSITIVE_INFINITY, model.max_output ?? context);
  if (prompt.bound + wanted <= context) {
    return { input: prompt.bound, output: wanted, mayPass: false };
  }
  if (prompt.estimate + wanted <= context) {
    return { input: prompt.bound, output: wanted, mayPass: true };
  }
  return limitByCount(model, wanted, prompt);
}

async function limitByCount(model: ServedModel, wanted: number, prompt: PromptLength): Promise<TokenLimits> {
  const context = model.context_length;
  const exact = await prompt.count();
  if (exact !== undefined) {
    return { input: exact, output: outputBeside(exact, wanted, context), mayPass: false };
  }
  if (prompt.estimate >= context && model.servers.some(({ engine }) => unboundedEngines.includes(engine))) {
    throw beyondContext(prompt.estimate, context, true);
  }
  const left = Math.max(1, context - Math.min(prompt.bound, prompt.estimate));
  return { input: prompt.bound, output: Math.min(wanted, left), mayPass: true };
}

/** The output for which a prompt of this many tokens leaves room. Throws CONTEXT_LENGTH_EXCEEDED. */
export function outputBeside(prompt: number, wanted: number, context: number): number {
  if (prompt < context) {
    return Math.min(wanted, context - prompt);
  }
  throw beyondContext(prompt, context, false);
}

function beyondContext(prompt: number, context: number, estimated: boolean): ConnectError {
  const words = estimated ? `about ${prompt}` : prompt;
  return failure(
    Reason.CONTEXT_LENGTH_EXCEEDED,
    `The prompt has ${words} tokens, which leaves no room for an answer in the model's context of ${context} tokens.`,
    { bound: { case: "tokens", value: { limit: BigInt(context), actual: BigInt(prompt), estimated } } },
  );
}
