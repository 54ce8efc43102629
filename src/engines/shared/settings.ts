import type { ConnectionOptions } from "./http/connection.ts";

/** What an engine's adapter has to know of the configuration. */
export interface EngineSettings extends ConnectionOptions, ModelSettings {}

/** What an engine's adapter has to know of the model, and of how it is served. */
export interface ModelSettings {
  readonly kind: "generation" | "embedding";
  /** Requests that run at once. */
  readonly capacity: number;
  /** Whether the model's chat template takes a system message after the first turn. */
  readonly systemAnywhere: boolean;
  /** Most tokens of prompt and answer together; of one input for an embedding model. */
  readonly contextLength: number;
}
