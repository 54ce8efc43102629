import type { ConnectionOptions } from "./http/connection.ts";

/** The configuration that an engine's adapter needs. */
export interface EngineSettings extends ConnectionOptions, ModelSettings {}

/** The facts of a model, and of how it is served, that an engine's adapter needs. */
export interface ModelSettings {
  readonly kind: "generation" | "embedding";
  /** Requests that run at once. */
  readonly capacity: number;
  /** Whether the model's chat template takes a system message after the first turn. */
  readonly systemAnywhere: boolean;
  /** Most tokens of prompt and answer together; of one input for an embedding model. */
  readonly contextLength: number;
  /** Is told how many bytes of the model are in memory, by an engine that loads it itself. */
  readonly onLoading?: (done: number, total: number) => void;
}
