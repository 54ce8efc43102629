/** Is told what was embedded. */
export interface EmbeddingsObserver {
  /** A request's vectors are there, for so many tokens. */
  embedded(model: string, inputTokens: number): void;
}
