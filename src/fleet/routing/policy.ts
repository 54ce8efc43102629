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
}

/** The members that would soon read a prompt of which nothing is in their caches. */
export function toReaders(members: readonly Member[]): readonly Member[] {
  return members.some((member) => member.isBacklogged) ? members.filter((member) => !member.isBacklogged) : members;
}

/** A way to choose a server. */
export interface Policy {
  readonly routing: Routing;
  /** These are the servers from now on. Facts about servers that stay are kept. */
  replace(members: readonly Member[]): void;
  /** One of the candidates, of which there is at least one. Undefined: each of them has more to read than it should. */
  choose(candidates: readonly Member[], route: RoutingRequest): Choice | undefined;
  /** A server has lost its cache, or is suspected to. */
  forget(member: Member): void;
}
