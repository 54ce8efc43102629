import type { ServiceClass } from "#lib/limits/service-class.ts";

/** What decides when a waiting request is served, on this core or another. */
export interface Standing {
  readonly serviceClass: ServiceClass;
  /** The rank of its account among the accounts of its class. */
  readonly rank: number;
  /** Since when its account waits for a turn, on this core's monotonic clock. */
  readonly since: number;
}

/** The request that a core would serve next, of a model's queue. */
export interface Head extends Standing {
  /** Tokens of its prompt, and of its prompt and expected answer. */
  readonly prompt: number;
  readonly total: number;
}

/** Virtual times of the classes, and of the accounts in each class from the lowest class on. All cores follow the latest. */
export interface VirtualTimes {
  readonly classes: number;
  readonly accounts: readonly number[];
}

/** The head of another core's queue for the same model. */
export interface OtherHead extends Head {
  readonly core: string;
}
