import type { ConnectionOptions } from "./http/connection.ts";

/** The configuration that an engine's adapter needs. */
export interface EngineSettings extends ConnectionOptions, ModelSettings {}

/** The facts about a model and its serving that an engine's adapter needs. */
export interface ModelSettings {
  readonly kind: "generation" | "embedding";
  /** Requests that run at once. */
  readonly capacity: number;
  /** Whether the model's chat template accepts a system message after the first turn. */
  readonly systemAnywhere: boolean;
  /** The most tokens of prompt and answer together. For an embedding model, of one input. */
  readonly contextLength: number;
  /** Receives how many bytes of the model are in memory, from an engine that loads it itself. */
  readonly onLoading?: (done: number, total: number) => void;
}
