import { checkChunk } from "./check-chunk.ts";
import type { Chunk } from "./chunk.ts";
import { ChunkTemplate } from "./chunk-template.ts";

/** Forms that are kept: the role, text, thinking, each kind of end, usage alone. */
const maxTemplates = 8;

/** Forms that may be learned in vain before no more are. */
const patience = 16;

/** Parses an engine's chunks, and remembers the forms that most of them have. One an engine. */
export class ChunkParser {
  /** Roughly by how often they are met. */
  readonly #templates: ChunkTemplate[] = [];
  #patience = patience;

  /** A chunk from its JSON text, good until the next call. Throws a SyntaxError, or a TypeError for a part of another type. */
  parse(data: string): Chunk {
    for (let at = 0; at < this.#templates.length; at++) {
      const chunk = this.#templates[at]?.read(data);
      if (chunk === undefined) {
        continue;
      }
      if (at > 0) {
        this.#advance(at);
      }
      this.#patience = patience;
      return chunk;
    }
    const chunk = checkChunk(JSON.parse(data));
    if (this.#patience > 0) {
      this.#learn(data, chunk);
    }
    return chunk;
  }

  /** An engine that keeps making new forms is no longer learned from. */
  #learn(data: string, chunk: Chunk): void {
    const template = ChunkTemplate.of(data, chunk);
    if (template === undefined) {
      return;
    }
    this.#patience--;
    if (this.#templates.length === maxTemplates) {
      this.#templates.pop();
    }
    this.#templates.push(template);
  }

  #advance(at: number): void {
    const [template] = this.#templates.splice(at, 1);
    if (template !== undefined) {
      this.#templates.splice(at - 1, 0, template);
    }
  }
}
