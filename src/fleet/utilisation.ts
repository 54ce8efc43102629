import type { Member } from "./servers/member.ts";
import type { Pool } from "./servers/pool.ts";

/**
 * The part of a model's capacity that is in use: of its servers' requests or of their tokens, whichever is more. Use by
 * a server's other models counts for this one, too. Above 1: requests wait.
 */
export function utilisation({ members, waiting, waitingTokens }: Pool): number {
  const fit = members.filter((member) => member.fit);
  const there = fit.length > 0 ? fit : members;
  const capacity = sum(there, (member) => member.capacity);
  const requests =
    (sum(members, ({ capacity: all, freePlaces }) => all - freePlaces) + waiting) / Math.max(1, capacity);
  // A server that does not report its room counts by its requests only.
  const roomy = there.filter((member) => member.kv.usable !== undefined);
  const room = sum(roomy, (member) => member.kv.usable ?? 0);
  const share = there.length === 0 ? 0 : roomy.length / there.length;
  const tokens = room === 0 ? 0 : (sum(roomy, ({ machine }) => machine.knownTokens) + waitingTokens * share) / room;
  return Math.max(requests, tokens);
}

function sum(members: readonly Member[], of: (member: Member) => number): number {
  return members.reduce((total, member) => total + of(member), 0);
}
