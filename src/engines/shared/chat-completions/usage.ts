import type { EngineUsage } from "../../interface.ts";
import { countIn } from "../counts.ts";

/** A count as OpenAI-compatible engines send it. */
export interface WireUsage {
  readonly prompt_tokens?: unknown;
  readonly completion_tokens?: unknown;
  /** SGLang's place for it. */
  readonly reasoning_tokens?: unknown;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: unknown } | null;
  readonly prompt_tokens_details?: { readonly cached_tokens?: unknown } | null;
}

/**
 * The count that a chunk carries, on top of the one before it. Undefined: it cannot be true, because a
 * prompt has tokens and no count ever falls.
 */
export function readUsage(usage: WireUsage, before: EngineUsage | undefined): EngineUsage | undefined {
  const inputTokens = countIn(usage.prompt_tokens);
  const outputTokens = countIn(usage.completion_tokens ?? 0);
  if (!inputTokens || outputTokens === undefined) {
    return undefined;
  }
  if (before !== undefined && (inputTokens < before.inputTokens || outputTokens < before.outputTokens)) {
    return undefined;
  }
  const reasoningTokens =
    countIn(usage.completion_tokens_details?.reasoning_tokens) ??
    countIn(usage.reasoning_tokens) ??
    before?.reasoningTokens;
  const cachedInputTokens = countIn(usage.prompt_tokens_details?.cached_tokens) ?? before?.cachedInputTokens;
  return {
    inputTokens,
    outputTokens,
    ...(reasoningTokens !== undefined && { reasoningTokens: Math.min(reasoningTokens, outputTokens) }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens: Math.min(cachedInputTokens, inputTokens) }),
  };
}

/** Whether a count is told that is none: negative, fractional, or no number. */
export function isNoCount({ prompt_tokens, completion_tokens }: WireUsage): boolean {
  return [prompt_tokens, completion_tokens].some((told) => told != null && countIn(told) === undefined);
}
