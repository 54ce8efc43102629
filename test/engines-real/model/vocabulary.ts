import { createVocabulary, type Vocabulary } from "../../../scripts/tiny-gguf/vocabulary.ts";
import { chains } from "./said.ts";

/** The byte-level vocabulary with the words of the model, and for each token the one that follows it. */
export interface SpokenVocabulary extends Vocabulary {
  /** The successor's id by id. */
  readonly successors: ReadonlyMap<number, number>;
}

export function createSpokenVocabulary(): SpokenVocabulary {
  const words = [...new Set(chains.flat())].filter((word) => word.length > 1);
  const vocabulary = createVocabulary(words);
  const idOf = (word: string) => (word.length === 1 ? word.charCodeAt(0) : vocabulary.idOf(word));
  const successors = chains.flatMap((chain) =>
    chain.slice(1).map((word, index) => [idOf(chain[index] as string), idOf(word)] as const),
  );
  return { ...vocabulary, successors: new Map(successors) };
}
