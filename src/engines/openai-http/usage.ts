import type { EngineUsage } from "../interface.ts";

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
 * The count that a chunk carries, on top of the one before it. Undefined: it carries none that can be
 * true; a count is never below an earlier one, nor above the limit that was set.
 */
export function readUsage(
  usage: WireUsage,
  before: EngineUsage | undefined,
  maxOutputTokens: number,
): EngineUsage | undefined {
  const inputTokens = count(usage.prompt_tokens);
  const outputTokens = count(usage.completion_tokens) ?? (usage.completion_tokens === undefined ? 0 : undefined);
  if (inputTokens === undefined || outputTokens === undefined || outputTokens > maxOutputTokens) return undefined;
  if (before !== undefined && (outputTokens < before.outputTokens || inputTokens !== before.inputTokens)) {
    return undefined;
  }
  const reasoningTokens =
    count(usage.completion_tokens_details?.reasoning_tokens) ??
    count(usage.reasoning_tokens) ??
    before?.reasoningTokens;
  const cachedInputTokens = count(usage.prompt_tokens_details?.cached_tokens) ?? before?.cachedInputTokens;
  return {
    inputTokens,
    outputTokens,
    ...(reasoningTokens !== undefined && { reasoningTokens: Math.min(reasoningTokens, outputTokens) }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens: Math.min(cachedInputTokens, inputTokens) }),
  };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}
