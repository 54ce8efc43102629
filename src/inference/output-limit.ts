import { Reason } from "#gen/errors/v1/error_detail_pb.js";
import type { ServedModel } from "../catalogue/interface.ts";
import { failure } from "../errors.ts";

/** Numbers of tokens that a request may use. */
export interface TokenLimits {
  /** A bound that the engine's count of the prompt cannot pass; the count itself where it is known. */
  readonly input: number;
  /** The most output tokens. */
  readonly output: number;
}

/** What is known of a prompt's length. */
export interface PromptLength {
  /** Cannot be passed. */
  readonly bound: number;
  /** Roughly. */
  readonly estimate: number;
  /** The engine's own count. Undefined: it cannot tell. */
  readonly count: () => Promise<number | undefined>;
}

/**
 * Clamps the output to the model's maximum and to what the context leaves. The engine's tokenizer is
 * asked only when the bound cannot settle that all fits; without one the engine's own refusal decides.
 * Throws CONTEXT_LENGTH_EXCEEDED.
 */
export async function limitOutput(
  model: ServedModel,
  asked: number | undefined,
  prompt: PromptLength,
): Promise<TokenLimits> {
  const context = model.context_length;
  const wanted = Math.min(asked ?? Number.POSITIVE_INFINITY, model.max_output ?? context);
  if (prompt.bound + wanted <= context) return { input: prompt.bound, output: wanted };
  const exact = await prompt.count();
  if (exact === undefined) {
    const left = Math.max(1, context - Math.min(prompt.bound, prompt.estimate));
    return { input: prompt.bound, output: Math.min(wanted, left) };
  }
  if (exact >= context) {
    throw failure(
      Reason.CONTEXT_LENGTH_EXCEEDED,
      `The prompt has ${exact} tokens, which leaves no room for an answer in the model's context of ${context} tokens.`,
      { limit: BigInt(context), actual: BigInt(exact) },
    );
  }
  return { input: exact, output: Math.min(wanted, context - exact) };
}
