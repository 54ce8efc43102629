import type { Routing } from "../../config/schema.ts";
import type { FleetRequest } from "../interface.ts";
import type { Member } from "../servers/member.ts";

/** The facts of a request when its server is chosen. */
export interface RoutingRequest {
  /** Undefined for embeddings. */
  readonly request: FleetRequest | undefined;
  /** Tokens of the prompt, roughly. */
  readonly promptTokens: number;
}

/** A server for a request. */
export interface Choice {
  readonly member: Member;
  /** Tokens of the prompt that it is expected to have to read, the others being in its cache. */
  readonly uncachedTokens: number;
  /** What is believed to be in the cache. Undefined: the policy has no belief. */
  readonly known?: Known;
}

/** The beginning of a prompt that a server is believed to have in its cache. */
export interface Known {
  readonly tokens: number;
  /** When its last block was used last, as the policy counts. Undefined: it is not there. */
  readonly usedAt: number | undefined;
}

/** The members that would soon read a prompt of which nothing is in their caches. */
export function toReaders(members: readonly Member[]): readonly Member[] {
  return members.some((member) => member.isBacklogged) ? members.filter((member) => !member.isBacklogged) : members;
}

/** Is told that a prompt was sent to a server, as `heard` is. The arrays are the teller's own. */
export type OnPrompt = (member: Member, hashes: Int32Array, ends: Int32Array) => void;

/** A way to choose a server. */
export interface Policy {
  readonly routing: Routing;
  /** These are the servers from now on. Facts about servers that stay are kept. */
  replace(members: readonly Member[]): void;
  /** One of the candidates, of which there is at least one. Undefined: each of them has more to read than it should. */
  choose(candidates: readonly Member[], route: RoutingRequest): Choice | undefined;
  /** A server has said how many tokens of a prompt that it was chosen for were in its cache. */
  learn(choice: Choice, cachedTokens: number): void;
  /** Another core has sent a prompt to a server: two halves of a hash for each of its blocks, and where each ends. */
  heard(member: Member, hashes: Int32Array, ends: Int32Array): void;
  /** Whether other cores choose as well and nothing is heard of them. */
  isAlone: boolean;
  /** A server has lost its cache, or is suspected to. */
  forget(member: Member): void;
}
