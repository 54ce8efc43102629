import type { Clock } from "#lib/time/clock.ts";
import type { ExpectedOutput } from "../estimates/expected-output.ts";
import type { Member } from "../member.ts";
import { Place } from "../place.ts";
import { Candidates } from "../queue/candidates.ts";
import type { FirstTokenPromises } from "../queue/first-token-promises.ts";
import type { KeptServers } from "../queue/kept-servers.ts";
import { type FreeRoom, findFreeRoom, type Shares } from "../shares.ts";
import type { Wish } from "../wish.ts";
import type { Policy } from "./policy.ts";

interface Dependencies {
  readonly shares: Shares;
  readonly output: ExpectedOutput;
  readonly promises: FirstTokenPromises;
  /** Servers that are kept free. */
  readonly kept: KeptServers;
  readonly clock: Clock;
}

/** Finds places on a model's servers. */
export class Chooser {
  members: readonly Member[] = [];
  /** How a server is chosen of those that can take a wish. */
  policy: Policy;
  readonly #parts: Dependencies;
  readonly #candidates = new Candidates();

  constructor(policy: Policy, parts: Dependencies) {
    this.policy = policy;
    this.#parts = parts;
  }

  /** Whether the account, with this wish, leaves enough to others. */
  mayEnter({ key, route }: Wish, free?: FreeRoom): boolean {
    const { shares, output } = this.#parts;
    return !shares.hasAny(key) || shares.mayEnter(key, output.measure(route).total, free ?? findFreeRoom(this.members));
  }

  /**
   * A place on a server that can take the wish now. Undefined: there is none. Where all lack room for it, keeps one of
   * them free of later requests until it has room.
   */
  choose(wish: Wish, keepOneOf: (usable: readonly Member[]) => void): Place | undefined {
    const { output, promises, kept, clock } = this.#parts;
    promises.restart();
    const footprint = output.measure(wish.route);
    const { all, roomy } = this.#candidates;
    this.#candidates.find(this.members, wish, footprint.total, kept);
    if (all.length === 0) {
      return undefined;
    }
    const choice = roomy.length === 0 ? undefined : this.policy.choose(roomy, promises.restrict(wish));
    if (choice === undefined) {
      if (!promises.isLate(wish)) {
        keepOneOf(all);
      }
      return undefined;
    }
    return new Place(choice, wish, footprint, clock.monotonic());
  }
}
