import type { EngineUsage } from "#src/fleet/engines/interface.ts";

/** Receives the events of all generations. */
export interface InferenceObserver {
  /** A request came in. */
  received(): GenerationObserver;
}

/** Receives the events of one generation. A refused request ends without any event. */
export interface GenerationObserver {
  /** The engine's first output arrived. */
  began(model: string): void;
  /** The engine has finished or was stopped, with its last count. */
  ended(model: string, usage: EngineUsage): void;
  /** The engine began but ended without a count: nothing can be billed. */
  unbilled(model: string): void;
}
