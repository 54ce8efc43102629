import type { Turn } from "./workloads.ts";

/**
 * A server's prefix cache, turn by turn: what it has of a prompt is the turns from the start that it has
 * read or written, the least recently used ones being lost first.
 */
export class PromptCache {
  readonly #capacity: number;
  readonly #tokens = new Map<string, number>();
  #size = 0;

  /** Takes room for this many tokens. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Tokens of a prompt's beginning that are there. */
  match(turns: readonly Turn[]): number {
    let key = "";
    let matched = 0;
    for (const { id, tokens } of turns) {
      key += `/${id}`;
      if (!this.#tokens.has(key)) {
        break;
      }
      matched += tokens;
    }
    return matched;
  }

  add(turns: readonly Turn[]): void {
    let key = "";
    for (const { id, tokens } of turns) {
      key += `/${id}`;
      if (this.#tokens.delete(key)) {
        this.#size -= tokens;
      }
      this.#tokens.set(key, tokens);
      this.#size += tokens;
    }
    for (const [oldest, tokens] of this.#tokens) {
      if (this.#size <= this.#capacity) {
        return;
      }
      this.#tokens.delete(oldest);
      this.#size -= tokens;
    }
  }

  clear(): void {
    this.#tokens.clear();
    this.#size = 0;
  }
}
