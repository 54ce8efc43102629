import type { Member } from "../servers/member.ts";
import type { Choice, Policy, Route } from "./policy.ts";

/** Each server in turn. */
export class RoundRobin implements Policy {
  readonly routing = "round-robin";
  #turn = 0;

  choose(candidates: readonly Member[], { promptTokens }: Route): Choice {
    return { member: candidates[this.#turn++ % candidates.length] as Member, uncachedTokens: promptTokens };
  }

  replace(): void {}

  forget(): void {}
}
