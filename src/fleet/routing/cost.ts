import type { Member } from "../servers/member.ts";

// How long a server would take, in seconds, from figures that are typical of today's GPUs: what counts is
// how waiting, reading and writing compare with each other, not the absolute times.

/** Prompt tokens read in a second. */
const prefillRate = 8000;

/**
 * The cost of each running request. It slows an answer of 256 tokens by 0.09 s, but a prompt that is read
 * twice takes time from all others, so that affinity is worth three times as much.
 */
const perRunning = 0.03;

/** The cost of a full KV cache: preempted requests are read again. */
const kvWeight = 0.15;
const fullestKv = 0.99;

/** The time that a request with so many uncached tokens would take on a server, answer's own steps aside. */
export function estimateCost(member: Member, uncachedTokens: number): number {
  const kv = Math.min(member.load?.kvUsage ?? 0, fullestKv);
  const prefill = (member.unreadTokens + uncachedTokens) / prefillRate;
  return prefill + member.running * perRunning + (kvWeight * kv) / (1 - kv);
}
