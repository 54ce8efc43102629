import type { Random } from "../../runtime/random.ts";
import type { Member } from "../member.ts";
import { charactersPerToken } from "../prompt-size.ts";
import { costOf } from "./cost.ts";
import { lessLoaded } from "./least-load.ts";
import type { Choice, Policy, Route } from "./policy.ts";
import { PrefixIndex } from "./prefix-index.ts";
import { PromptBlocks } from "./prompt-blocks.ts";

/** Requests that go to any server, to learn and to spread what is asked by many. */
const exploration = 0.01;

/** Costs this near to the lowest, in seconds or as a part of it, are as good. */
const tieSeconds = 0.005;
const tiePart = 0.02;

/**
 * The server that would be done first, given what it has in its prefix cache and what it has to do. A
 * conversation so returns to the server that has read it, until that one is too busy to be worth it.
 */
export class PrefixAffinity implements Policy {
  readonly #random: Random;
  readonly #index: PrefixIndex;
  readonly #slots: Map<Member, number>;
  readonly #matched: Uint32Array;
  readonly #blocks = new PromptBlocks();

  /** `blocks` bounds what is remembered. */
  constructor(members: readonly Member[], blocks: number, random: Random) {
    this.#random = random;
    this.#index = new PrefixIndex(blocks, members.length);
    this.#slots = new Map(members.map((member, slot) => [member, slot]));
    this.#matched = new Uint32Array(Math.ceil(members.length / 32) * 32);
  }

  choose(candidates: readonly Member[], route: Route): Choice {
    const { request } = route;
    if (request === undefined) {
      return { member: lessLoaded(candidates, this.#random), uncachedTokens: route.promptTokens };
    }
    this.#blocks.read(request);
    this.#index.match(this.#blocks, this.#matched);
    const explores = this.#random.fraction() < exploration;
    const member = lessLoaded(explores ? candidates : this.#best(candidates, route), this.#random);
    const slot = this.#slots.get(member) ?? 0;
    const uncachedTokens = this.#uncached(slot, route);
    this.#index.add(this.#blocks, slot);
    return { member, uncachedTokens };
  }

  forget(member: Member): void {
    const slot = this.#slots.get(member);
    if (slot !== undefined) this.#index.forget(slot);
  }

  /** The candidates whose cost is about the lowest. */
  #best(candidates: readonly Member[], route: Route): Member[] {
    const costs = candidates.map((member) => costOf(member, this.#uncached(this.#slots.get(member) ?? 0, route)));
    const lowest = Math.min(...costs);
    const limit = lowest + Math.max(tieSeconds, lowest * tiePart);
    return candidates.filter((_, index) => (costs[index] ?? 0) <= limit);
  }

  #uncached(slot: number, { promptTokens }: Route): number {
    return Math.max(0, promptTokens - Math.floor((this.#matched[slot] ?? 0) / charactersPerToken));
  }
}
