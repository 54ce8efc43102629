import type { Member } from "../member.ts";
import type { Policy } from "./policy.ts";

/** Each server in turn. */
export class RoundRobin implements Policy {
  #turn = 0;

  choose(candidates: readonly Member[]): Member {
    return candidates[this.#turn++ % candidates.length] as Member;
  }
}
