import type { Random } from "../../runtime/random.ts";
import type { Member } from "../member.ts";
import type { Policy } from "./policy.ts";

/** The less loaded one of two random servers: nearly as even as the least loaded of all, and no herd runs to one. */
export class LeastLoad implements Policy {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  choose(candidates: readonly Member[]): Member {
    const first = Math.floor(this.#random.fraction() * candidates.length);
    const step = 1 + Math.floor(this.#random.fraction() * (candidates.length - 1));
    const one = candidates[first] as Member;
    const other = candidates[(first + step) % candidates.length] as Member;
    return loadOf(other) < loadOf(one) ? other : one;
  }
}

/** The part of a server's capacity that is taken. */
function loadOf(member: Member): number {
  return (member.inFlight + (member.load?.waiting ?? 0)) / member.config.capacity;
}
