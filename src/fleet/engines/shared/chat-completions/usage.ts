import type { EngineUsage } from "../../interface.ts";
import { countIn } from "../counts.ts";

/** A count as OpenAI-compatible engines send it. */
export interface WireUsage {
  readonly prompt_tokens?: unknown;
  readonly completion_tokens?: unknown;
  /** Where SGLang puts it. */
  readonly reasoning_tokens?: unknown;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: unknown } | null;
  readonly prompt_tokens_details?: { readonly cached_tokens?: unknown } | null;
}

/**
 * The chunk's count, on top of the previous one. Undefined: the count is impossible, because a prompt has tokens and
 * counts never fall.
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

/** Whether a reported value cannot be a count: negative, fractional, or not a number. */
export function isNoCount({ prompt_tokens, completion_tokens }: WireUsage): boolean {
  return [prompt_tokens, completion_tokens].some((told) => told != null && countIn(told) === undefined);
}
