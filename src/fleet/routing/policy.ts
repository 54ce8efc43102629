import type { Routing } from "../../config/schema.ts";
import type { FleetRequest } from "../interface.ts";
import type { KvEvent } from "../kv-events/events.ts";
import type { Member } from "../servers/member.ts";
import type { SentPrompt } from "./sent-prompts.ts";

/** The facts of a request when its server is chosen. */
export interface RoutingRequest {
  /** Undefined for embeddings. */
  readonly request: FleetRequest | undefined;
  /** Tokens of the prompt, roughly. */
  readonly promptTokens: number;
  /** Whether a server that has to read so many tokens of the prompt may be chosen. Absent: each may. */
  readonly keeps?: (member: Member, uncachedTokens: number) => boolean;
}

/** A server for a request. */
export interface Choice {
  readonly member: Member;
  /** Tokens of the prompt that the server is expected to read; the rest is in its cache. */
  readonly uncachedTokens: number;
  /** The prompt and what is believed of it, until the policy has learned from its answer. Undefined: it believes nothing. */
  readonly sent?: SentPrompt;
}

/** What a server has told of a request that has ended. */
export interface Told {
  readonly promptTokens: number;
  /** Tokens of the prompt that were in its cache. Undefined: it did not say. */
  readonly cachedTokens: number | undefined;
}

/** The members that would soon read a prompt that is not in their caches. */
export function toReaders(members: readonly Member[], { keeps, promptTokens }: RoutingRequest): readonly Member[] {
  const readers = isAnyBacklogged(members) ? members.filter((member) => !member.isBacklogged) : members;
  return keeps === undefined ? readers : readers.filter((member) => keeps(member, promptTokens));
}

/** Whether some of them have as much to read as they should. */
export function isAnyBacklogged(members: readonly Member[]): boolean {
  for (const member of members) {
    if (member.isBacklogged) {
      return true;
    }
  }
  return false;
}

/** Is called when a prompt was sent to a server, with the arguments of `heard`. The arrays are reused after the call. */
export type OnPrompt = (member: Member, hashes: Int32Array, ends: Int32Array) => void;

/** A way to choose a server. */
export interface Policy {
  readonly routing: Routing;
  /** Replaces the servers. Facts about servers that stay are kept. */
  replace(members: readonly Member[]): void;
  /** Chooses one of the candidates, of which there is at least one. Undefined: each has more to read than it should. */
  choose(candidates: readonly Member[], route: RoutingRequest): Choice | undefined;
  /** A request was answered by its server, and has ended. */
  learn(choice: Choice, told: Told): void;
  /** A server has told what happened to its cache. */
  happened(member: Member, events: readonly KvEvent[]): void;
  /** What a server has told of its cache no longer holds: something of it was not heard. */
  lostTrack(member: Member): void;
  /** Another core has sent a prompt to a server: both halves of each block's hash, and where each block ends, in characters. */
  heard(member: Member, hashes: Int32Array, ends: Int32Array): void;
  /** True while other cores choose servers, too, but are not heard. */
  isAlone: boolean;
  /** A server has lost its cache, or may have. */
  forget(member: Member): void;
}
