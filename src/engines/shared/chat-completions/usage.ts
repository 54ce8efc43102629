import type { EngineUsage } from "../../interface.ts";

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
  const inputTokens = count(usage.prompt_tokens);
  const outputTokens = count(usage.completion_tokens ?? 0);
  if (!inputTokens || outputTokens === undefined) return undefined;
  if (before !== undefined && (inputTokens < before.inputTokens || outputTokens < before.outputTokens)) {
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
