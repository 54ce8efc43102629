/** Receives what was embedded. */
export interface EmbeddingsObserver {
  /** A request's inputs were embedded, with this many tokens. */
  embedded(model: string, inputTokens: number): void;
}
