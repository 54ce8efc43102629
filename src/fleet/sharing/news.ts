import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { Head, VirtualTimes } from "./standing.ts";

/** A core's load on a server. */
export interface Load {
  readonly inFlight: number;
  /** Prompt tokens that the server has yet to read, and all tokens that the core's requests take in its KV cache. */
  readonly unreadTokens: number;
  readonly tokensInFlight: number;
}

/** The load of a core that has nothing on a server. */
export const nothing: Load = { inFlight: 0, unreadTokens: 0, tokensInFlight: 0 };

export function sumLoads(one: Load, other: Load): Load {
  return {
    inFlight: one.inFlight + other.inFlight,
    unreadTokens: one.unreadTokens + other.unreadTokens,
    tokensInFlight: one.tokensInFlight + other.tokensInFlight,
  };
}

/** A head as it is told. How long its account has waited is a span, since clocks of cores differ. */
export interface ToldHead extends Omit<Head, "since"> {
  readonly waitedMs: number;
}

/** News about one server or one model. Its name is the same on all cores. */
export type News =
  | { readonly kind: "load"; readonly server: string; readonly load: Load }
  /** A prompt was sent to the server: both halves of each block's hash, and where each block ends, in characters. */
  | { readonly kind: "prompt"; readonly server: string; readonly hashes: Int32Array; readonly ends: Int32Array }
  /** The server failed several requests, or its checks. */
  | { readonly kind: "trouble"; readonly server: string }
  /** The core gives the server no work for now. */
  | { readonly kind: "avoided"; readonly server: string }
  /** The request that the core would serve next of the model's queue, and how far its turns are. */
  | { readonly kind: "head"; readonly model: string; readonly head: ToldHead; readonly times: VirtualTimes }
  /** No request of the core waits for the model. */
  | { readonly kind: "empty"; readonly model: string }
  /**
   * Work was served to an account, or less than was told before: then it is negative. With it goes the work that the core
   * has running for the account, in all classes.
   */
  | {
      readonly kind: "served";
      readonly model: string;
      readonly serviceClass: ServiceClass;
      readonly key: string;
      readonly work: number;
      readonly running: number;
    }
  /** The core leaves a place on the server to another core, where it counts as this load. */
  | {
      readonly kind: "left";
      readonly server: string;
      readonly core: string;
      readonly load: Load;
      /** Whether it was left to the core itself by a third one. */
      readonly isPassedOn: boolean;
    }
  /** A place is no longer left to a core: taken, or not. Unfit: none of its waiting requests may use the server. */
  | { readonly kind: "settled"; readonly server: string; readonly core: string; readonly isUnfit: boolean };

/** A message of one core. */
export interface Message {
  readonly core: string;
  /** Whether the message has all loads of the core: the core then has nothing on servers that it does not name. */
  readonly isWhole: boolean;
  readonly news: readonly News[];
}
