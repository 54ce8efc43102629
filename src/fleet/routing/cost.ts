import type { Member } from "../servers/member.ts";

// How long a server would take, in seconds, from figures that are typical of today's GPUs: what counts is
// how waiting, reading and writing compare with each other, not the absolute times.

/** Prompt tokens read in a second. */
const prefillRate = 8000;

/**
 * The cost of each running request: it slows an answer of 256 tokens by 0.09 s, as that one slows it. Less of it, and what
 * many ask would stay on one server.
 */
const perRunning = 0.2;

/**
 * How much more a token costs that has to be read than one that is waited for: it takes time from all who come while it is
 * read, and room in the cache from prompts that will come again. Three to six times do alike.
 */
const uncachedWeight = 4;

/** The cost of a full KV cache: preempted requests are read again. Little, as the figure is seconds old. */
const kvWeight = 0.02;
const fullestKv = 0.99;

/** What a request with so many uncached tokens would cost on a server, itself and others, as a time. */
export function estimateCost(member: Member, uncachedTokens: number): number {
  const kv = Math.min(member.load?.kvUsage ?? 0, fullestKv);
  const prefill = (member.unread + uncachedWeight * uncachedTokens) / prefillRate;
  return prefill + member.running * perRunning + (kvWeight * kv) / (1 - kv);
}
