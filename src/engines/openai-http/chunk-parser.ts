import type { Chunk } from "./chunk.ts";
import { ChunkTemplate } from "./chunk-template.ts";

/** Forms that are kept: an engine has one for text and one for thinking, each perhaps with and without usage. */
const maxTemplates = 4;

/** Forms that may be learned in vain before no more are. */
const patience = 16;

/** Parses an engine's chunks, and remembers the forms that most of them have. One an engine. */
export class ChunkParser {
  #templates: readonly ChunkTemplate[] = [];
  #patience = patience;

  /** A chunk from its JSON text, good until the next call. Throws a SyntaxError. */
  parse(data: string): Chunk {
    for (const template of this.#templates) {
      const chunk = template.read(data);
      if (chunk === undefined) continue;
      this.#patience = patience;
      return chunk;
    }
    const chunk: Chunk = JSON.parse(data);
    if (this.#patience > 0) this.#learn(data, chunk);
    return chunk;
  }

  /** An engine that keeps making new forms is no longer learned from. */
  #learn(data: string, chunk: Chunk): void {
    const template = ChunkTemplate.of(data, chunk);
    if (template === undefined) return;
    this.#patience--;
    this.#templates = [template, ...this.#templates].slice(0, maxTemplates);
  }
}
