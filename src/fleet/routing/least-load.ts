import type { Random } from "#lib/ids/random.ts";
import { type Choice, type Policy, type RoutingRequest, toReaders } from "../servers/choice/policy.ts";
import type { Member } from "../servers/member.ts";

/** Chooses the less loaded of two random servers: nearly as even as the least loaded of all, without a rush to one. */
export class LeastLoad implements Policy {
  readonly routing = "least-load";
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  choose(candidates: readonly Member[], route: RoutingRequest): Choice | undefined {
    const readers = toReaders(candidates, route);
    return readers.length === 0
      ? undefined
      : { member: lessLoaded(readers, this.#random), uncachedTokens: route.promptTokens };
  }

  replace(): void {}
}

/** The less loaded of two random members. */
export function lessLoaded(members: readonly Member[], random: Random): Member {
  const first = Math.floor(random.fraction() * members.length);
  const step = 1 + Math.floor(random.fraction() * (members.length - 1));
  const one = members[first] as Member;
  const other = members[(first + step) % members.length] as Member;
  return relativeLoad(other) < relativeLoad(one) ? other : one;
}

/** The part of a server's capacity that is in use. */
function relativeLoad(member: Member): number {
  return member.running / member.machine.capacity;
}
