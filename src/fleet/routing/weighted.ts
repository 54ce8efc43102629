import type { Choice, Policy, RoutingRequest } from "../servers/choice/policy.ts";
import type { Member } from "../servers/member.ts";
import { PromptBlocks } from "./prompt-blocks.ts";

/** The fractional part of the golden ratio. Any number of its multiples fall evenly between 0 and 1. */
const golden = 0.618_033_988_749_895;

/** Servers of the same weight. */
interface Part {
  readonly weight: number;
  /** The end of this part's range, when requests are numbers from 0 to 1. */
  readonly end: number;
}

/**
 * Gives each weight its part of the requests, and lets another policy choose among the servers of that weight. Under
 * prefix routing sessions stay together: every core sends a session to the same part, by its hash. A request whose part
 * cannot take it goes to another part. Servers of weight 0 get only such requests.
 */
export class Weighted implements Policy {
  readonly #inner: Policy;
  readonly #blocks = new PromptBlocks();
  /** The heaviest part first. */
  #parts: readonly Part[] = [];
  #requests = 0;

  constructor(inner: Policy) {
    this.#inner = inner;
  }

  get routing() {
    return this.#inner.routing;
  }

  get caches() {
    return this.#inner.caches;
  }

  replace(members: readonly Member[]): void {
    this.#inner.replace(members);
    const weights = [...new Set(members.map(({ weight }) => weight))].sort((one, other) => other - one);
    const all = members.reduce((sum, { weight }) => sum + weight, 0);
    let end = 0;
    this.#parts = weights.map((weight) => {
      end += members.reduce((sum, member) => sum + (member.weight === weight ? weight : 0), 0) / all;
      return { weight, end };
    });
  }

  choose(candidates: readonly Member[], route: RoutingRequest): Choice | undefined {
    if (this.#parts.length < 2) {
      return this.#inner.choose(candidates, route);
    }
    const at = this.#place(route);
    const own = this.#parts.find(({ end }) => at < end)?.weight;
    for (const weight of [own, ...this.#parts.map((part) => part.weight)]) {
      const members = candidates.filter((member) => member.weight === weight);
      const choice = members.length === 0 ? undefined : this.#inner.choose(members, route);
      if (choice !== undefined) {
        return choice;
      }
    }
    return undefined;
  }

  /** A number from 0 to 1 for a request: the same for a whole session, otherwise an even sequence. */
  #place({ request }: RoutingRequest): number {
    if (request === undefined || this.#inner.routing !== "prefix") {
      this.#requests++;
      return (this.#requests * golden) % 1;
    }
    this.#blocks.read(request);
    return (this.#blocks.session >>> 0) / 2 ** 32;
  }
}
