import type { Choice, Policy, RoutingRequest } from "#src/fleet/servers/choice/policy.ts";
import type { Member } from "#src/fleet/servers/member.ts";
import type { Truth } from "./replay.ts";

/** What others' policies have in common here: they get the servers anew with each request. */
abstract class Peer implements Policy {
  readonly routing = "prefix";
  readonly truth: Truth;

  constructor(truth: Truth) {
    this.truth = truth;
  }

  abstract pick(members: readonly Member[], route: RoutingRequest): Member;

  choose(members: readonly Member[], route: RoutingRequest): Choice {
    return { member: this.pick(members, route), uncachedTokens: route.promptTokens };
  }

  replace(): void {}
}

/**
 * SMG's cache_aware at its defaults: the server that was sent the longest equal beginning, if that is more than three
 * tenths of the prompt, else the one that was sent least; the shortest queue where the load is uneven.
 */
export class CacheAware extends Peer {
  static readonly threshold = 0.3;
  static readonly absolute = 64;
  static readonly relative = 1.5;
  readonly #sent = new Map<number, Member>();
  readonly #sizes = new Map<Member, number>();

  pick(members: readonly Member[], route: RoutingRequest): Member {
    const { blocks } = this.truth.request(route);
    const most = Math.max(...members.map(({ inFlight }) => inFlight));
    const least = least_(members, ({ inFlight }) => inFlight);
    const isUneven = most - least.inFlight > CacheAware.absolute && most > CacheAware.relative * least.inFlight;
    let matched = 0;
    while (matched < blocks.length && this.#sent.has(blocks[matched] as number)) {
      matched++;
    }
    const last = this.#sent.get(blocks[matched - 1] ?? -1);
    const isKnown = last !== undefined && members.includes(last) && matched > CacheAware.threshold * blocks.length;
    const emptiest = () => least_(members, (member) => this.#sizes.get(member) ?? 0);
    const member = isUneven ? least : isKnown ? last : emptiest();
    for (const block of blocks) {
      if (this.#sent.get(block) !== member) {
        this.#sizes.set(member, (this.#sizes.get(member) ?? 0) + 1);
      }
      this.#sent.set(block, member);
    }
    return member;
  }
}

/** llm-d's scorers, with the weights of its guides: precise prefixes (KV events) 3, queue 2, KV cache 2. */
export class PrecisePrefix extends Peer {
  pick(members: readonly Member[], route: RoutingRequest): Member {
    const { blocks } = this.truth.request(route);
    const queues = members.map((member) => this.truth.server(member).waiting);
    const [least, most] = [Math.min(...queues), Math.max(...queues)];
    const cached = members.map((member) => this.truth.server(member).cached(blocks));
    const longest = Math.max(...cached, 1);
    const scores = members.map((member, at) => {
      const queue = most === least ? 1 : (most - (queues[at] as number)) / (most - least);
      return (3 * (cached[at] as number)) / longest + 2 * queue + 2 * (1 - this.truth.server(member).kvUsage);
    });
    return members[scores.indexOf(Math.max(...scores))] as Member;
  }
}

function least_(members: readonly Member[], of: (member: Member) => number): Member {
  return members.reduce((one, other) => (of(other) < of(one) ? other : one));
}
