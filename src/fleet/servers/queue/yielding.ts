import type { OtherHead, Standing } from "../../sharing/standing.ts";
import type { Member } from "../member.ts";
import type { KeptServers } from "./kept-servers.ts";
import type { Lanes } from "./lanes.ts";
import { noQueues, type OtherQueues } from "./other-queues.ts";

/** Leaves places to requests that wait on other cores and go before this core's. */
export class Yielding {
  readonly #line: Lanes;
  others: OtherQueues = noQueues;

  constructor(line: Lanes) {
    this.#line = line;
  }

  /** Whether requests wait on other cores. */
  get isAsked(): boolean {
    return this.others.heads().length > 0;
  }

  /**
   * Leaves places to the requests elsewhere that go before `next`, or to all where nobody is next here. Keeps a server
   * free for those that need more room than there is. Returns whether anything was left or kept.
   */
  yieldBefore(next: Standing | undefined, members: readonly Member[], kept: KeptServers): boolean {
    let hasYielded = false;
    const heads = this.others.heads();
    for (const head of heads.length < 2 ? heads : heads.toSorted((one, other) => this.#line.compare(one, other))) {
      if (next !== undefined && this.#line.compare(head, next) >= 0) {
        break;
      }
      hasYielded = this.#yieldTo(head, members, kept) || hasYielded;
    }
    return hasYielded;
  }

  #yieldTo(head: OtherHead, members: readonly Member[], kept: KeptServers): boolean {
    const usable = members.filter(
      (member) => member.available && !kept.has(member) && this.others.mayUse(head, member),
    );
    const roomy = usable.filter(({ kv }) => kv.takes(head.total));
    if (usable.length > 0 && roomy.length === 0 && !kept.isFull) {
      kept.keepOneOf(usable);
      return true;
    }
    const readers = roomy.filter(({ isBacklogged }) => !isBacklogged);
    if (readers.length === 0) {
      return false;
    }
    const member = readers.reduce((one, other) => (other.unread < one.unread ? other : one));
    this.others.leave(head, member, { inFlight: 1, unreadTokens: head.prompt, tokensInFlight: head.total });
    return true;
  }
}
