import { checkChunk } from "./check-chunk.ts";
import type { Chunk } from "./chunk.ts";
import { ChunkTemplate } from "./chunk-template.ts";

/** The most templates that are kept: for the role, text, thinking, each kind of end, and usage alone. */
const maxTemplates = 8;

/** Templates that may be learned in vain before learning stops. */
const patience = 16;

/** Parses an engine's chunks, and remembers the templates of the most common forms. One for each engine. */
export class ChunkParser {
  /** Roughly in the order of how often they match. */
  readonly #templates: ChunkTemplate[] = [];
  #patience = patience;

  /**
   * Parses a chunk's JSON text. The result is valid until the next call. Throws a SyntaxError, or a TypeError for a
   * part of a wrong type.
   */
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

  /** Learns a template from a chunk. An engine that keeps making new forms is no longer learned from. */
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
