import type { EngineUsage } from "../engines/interface.ts";

/** Is told how generations go. */
export interface InferenceObserver {
  /** A request came in. */
  received(): GenerationObserver;
}

/** Is told how one generation goes. A request that is refused ends without a word. */
export interface GenerationObserver {
  /** The engine's first output arrived. */
  began(model: string): void;
  /** The engine is done or was stopped; its last count. */
  ended(model: string, usage: EngineUsage): void;
  /** The engine began, but ended without any count: nothing can be billed. */
  unbilled(model: string): void;
}
