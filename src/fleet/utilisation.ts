import type { Pool } from "./servers/pool.ts";

/** How much of what a model's servers can take is taken: of their requests or of their tokens, whichever is more. Above 1: some wait. */
export function utilisation({ members, waiting, waitingTokens }: Pool): number {
  const fit = members.filter((member) => member.fit);
  const there = fit.length > 0 ? fit : members;
  const capacity = sum(there, (member) => member.config.capacity);
  const requests = (sum(members, (member) => member.known) + waiting) / Math.max(1, capacity);
  // Where a server does not tell its room, only its requests count.
  const roomy = there.filter((member) => member.room !== undefined);
  const room = sum(roomy, (member) => member.room ?? 0);
  const share = there.length === 0 ? 0 : roomy.length / there.length;
  const tokens = room === 0 ? 0 : (sum(roomy, (member) => member.knownTokens) + waitingTokens * share) / room;
  return Math.max(requests, tokens);
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}
