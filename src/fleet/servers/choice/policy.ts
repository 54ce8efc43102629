import type { Routing } from "#src/config/schema.ts";
import type { FleetRequest } from "../../interface.ts";
import type { Member } from "../member.ts";
import type { SentPrompt } from "./sent-prompt.ts";

/** The facts about a request when its server is chosen. */
export interface RoutingRequest {
  /** Undefined for embeddings. */
  readonly request: FleetRequest | undefined;
  /** The prompt's tokens, estimated. */
  readonly promptTokens: number;
  /** Whether a server that must read `uncachedTokens` of the prompt may be chosen. Absent: every server may. */
  readonly keeps?: (member: Member, uncachedTokens: number) => boolean;
}

/** The server chosen for a request. */
export interface Choice {
  readonly member: Member;
  /** Prompt tokens that the server is expected to read. The rest is in its cache. */
  readonly uncachedTokens: number;
  /** The prompt and what is believed about it, until its answer taught the policy. Undefined: nothing is believed. */
  readonly sent?: SentPrompt;
}

/** What a server reported about a request that has ended. */
export interface CacheReport {
  readonly promptTokens: number;
  /** Prompt tokens that were in the server's cache. Undefined: it did not report them. */
  readonly cachedTokens: number | undefined;
}

/** The members that would soon read a prompt that is not in their caches. */
export function toReaders(members: readonly Member[], { keeps, promptTokens }: RoutingRequest): readonly Member[] {
  const readers = isAnyBacklogged(members) ? members.filter((member) => !member.isBacklogged) : members;
  return keeps === undefined ? readers : readers.filter((member) => keeps(member, promptTokens));
}

/** Whether any member is backlogged: it has as much to read as it should. */
export function isAnyBacklogged(members: readonly Member[]): boolean {
  for (const member of members) {
    if (member.isBacklogged) {
      return true;
    }
  }
  return false;
}

/** Called when a prompt was sent to a server, with the arguments of `promptElsewhere`. The arrays are reused after the call. */
export type OnPrompt = (member: Member, hashes: Int32Array, ends: Int32Array) => void;

/** A way to choose a server. */
export interface Policy {
  readonly routing: Routing;
  /** Replaces the servers. Facts about servers that stay are kept. */
  replace(members: readonly Member[]): void;
  /** Chooses one of the candidates, of which there is at least one. Undefined: each has more to read than it should. */
  choose(candidates: readonly Member[], route: RoutingRequest): Choice | undefined;
  /** What it believes of the servers' caches. Undefined: it does not ask for them. */
  readonly caches?: CacheBeliefs | undefined;
}

/** What a policy believes of the servers' prefix caches. */
export interface CacheBeliefs {
  /** The server has answered a request to its end. */
  learn(choice: Choice, report: CacheReport): void;
  /** Another core has sent a prompt: both halves of each block's hash, and where each block ends, in characters. */
  promptElsewhere(member: Member, hashes: Int32Array, ends: Int32Array): void;
  /** True while other cores choose servers too, but their messages do not arrive. */
  isAlone: boolean;
  /** A server has lost its cache, or may have. */
  forget(member: Member): void;
}
