import type { Member } from "../servers/member.ts";

// Estimates how long a server would take, in seconds, from figures that are typical of today's GPUs. Only the proportions of
// waiting, reading and writing matter, not the absolute times.

/** Prompt tokens read in a second. */
const prefillRate = 8000;

/**
 * The cost of each running request, in seconds: two requests slow each other's answers of 256 tokens by 0.09 s each. With
 * a lower cost, a prompt that many ask would stay on one server.
 */
const perRunning = 0.2;

/**
 * How much more a token costs that this request makes the server read than one that it waits for: reading it delays all who
 * come meanwhile, and takes room in the cache from prompts that will come again. Factors of three to six do equally well.
 */
const uncachedWeight = 4;

/**
 * How much more again it costs on a server that loses sooner what it has read, if all prompts were found in caches: what makes
 * room there is more likely to be asked for again. New prompts then go where the cache lasts longest, so that all caches
 * together lose nearly what one would.
 */
const turnoverWeight = 5;

/** The cost of a full KV cache, since preempted requests are read again. It is small because the figure is seconds old. */
const kvWeight = 0.02;
const fullestKv = 0.99;

/** The cost of a request with so many uncached tokens on a server, to itself and to others, in seconds. */
export function estimateCost(member: Member, uncachedTokens: number): number {
  const kv = Math.min(member.load?.kvUsage ?? 0, fullestKv);
  const prefill = (member.unread + uncachedWeight * uncachedTokens) / prefillRate;
  return prefill + member.running * perRunning + (kvWeight * kv) / (1 - kv);
}

/**
 * What it costs beside that others' prompts make room for so many tokens, in seconds, on a server whose cache is turned over
 * faster than the slowest one's by so much of the mean. The part of all prompts that is found in caches counts twice: what is
 * lost would have been asked for again, and found until then. So where little is, as among conversations, load decides.
 */
export function estimateLoss(uncachedTokens: number, turnover: number, found: number): number {
  return (turnoverWeight * turnover * found * found * uncachedTokens) / prefillRate;
}
