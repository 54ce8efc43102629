import type { ConnectionOptions } from "./http/connection.ts";

/** What an engine's adapter has to know of the configuration. */
export interface EngineSettings extends ConnectionOptions {
  /** Whether the model's chat template takes a system message after the first turn. */
  readonly systemAnywhere: boolean;
  /** Most tokens of prompt and answer together; of one input for an embedding model. */
  readonly contextLength: number;
}
