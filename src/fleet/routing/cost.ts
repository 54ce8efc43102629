import type { Member } from "../servers/member.ts";

// Estimates how long a server would take, in seconds, from figures typical of today's GPUs. Only the proportions of
// waiting, reading and writing matter, not the absolute times. The whole score is one line above `#best` of
// prefix-affinity.ts.

/** Prompt tokens that a server reads in a second. */
const prefillRate = 8000;

/**
 * The cost of each running request, in seconds. Measured: two requests slow each other's answers of 256 tokens by 0.09
 * s each. With a lower cost, a prompt that many clients send would stay on one server.
 */
const perRunning = 0.2;

/**
 * An uncached token of this request costs this many times a token that it waits for: reading it delays everybody who
 * comes meanwhile, and displaces prompts that will come again. Factors of three to six do equally well.
 */
const uncachedWeight = 4;

/**
 * The extra cost of an uncached token on a server that loses cached prompts faster, if all prompts were found in
 * caches: what is displaced there is more likely to be asked for again. New prompts thus go where the cache lasts
 * longest, so that all caches together lose little more than one would.
 */
const turnoverWeight = 5;

/**
 * The cost of a full KV cache, whose preempted requests are read again. It is small because the figure is seconds old.
 */
const kvWeight = 0.02;
const fullestKv = 0.99;

/** Estimates the cost of a request with `uncachedTokens` on a server, to itself and to others, in seconds. */
export function estimateCost(member: Member, uncachedTokens: number): number {
  const kv = Math.min(member.load?.kvUsage ?? 0, fullestKv);
  const prefill = (member.unread + uncachedWeight * uncachedTokens) / prefillRate;
  return prefill + member.running * perRunning + (kvWeight * kv) / (1 - kv);
}

/**
 * Estimates the cost of displacing others' prompts for this many tokens, in seconds. `turnover` is how much faster this
 * server's cache turns over than the slowest one's, as a part of the mean. `found` is the part of all prompts that is
 * found in caches. It is squared: a lost prompt would have been asked for again, and would have been found. So where
 * little is found, as among conversations, load decides.
 */
export function estimateLoss(uncachedTokens: number, turnover: number, found: number): number {
  return (turnoverWeight * turnover * found * found * uncachedTokens) / prefillRate;
}
