import { type Choice, type Policy, type RoutingRequest, toReaders } from "../servers/choice/policy.ts";
import type { Member } from "../servers/member.ts";

/** Each server in turn. */
export class RoundRobin implements Policy {
  readonly routing = "round-robin";
  #turn = 0;

  choose(candidates: readonly Member[], route: RoutingRequest): Choice | undefined {
    const readers = toReaders(candidates, route);
    const member = readers[this.#turn % readers.length];
    if (member === undefined) {
      return undefined;
    }
    this.#turn++;
    return { member, uncachedTokens: route.promptTokens };
  }

  replace(): void {}
}
