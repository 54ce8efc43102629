import type { Machine } from "./machine.ts";

/** The part of a KV cache that is planned for. The rest is for answers that grow beyond what was expected. */
const usablePart = 0.9;

/** The free room in a server's KV cache. */
export class KvRoom {
  readonly #configured: number | undefined;
  readonly #machine: Machine;

  /** `configured` is the cache's size in tokens. Undefined: the size that the server reports. */
  constructor(configured: number | undefined, machine: Machine) {
    this.#configured = configured;
    this.#machine = machine;
  }

  /** The cache's size in tokens. Undefined: neither configured nor reported. */
  get tokens(): number | undefined {
    return this.#configured ?? this.#machine.load?.kvTokens;
  }

  /** Tokens that all requests together may take. Undefined: the size is not known. */
  get usable(): number | undefined {
    const { tokens } = this;
    return tokens === undefined ? undefined : tokens * usablePart;
  }

  /**
   * Tokens that no request takes, ours or others'. Negative when answers grew beyond the room. Undefined: not known.
   */
  get free(): number | undefined {
    const { usable } = this;
    return usable === undefined ? undefined : usable - this.#machine.tokens;
  }

  /** Whether this many tokens fit. A request larger than the whole cache fits once nothing else runs. */
  takes(tokens: number): boolean {
    const { free } = this;
    return free === undefined || this.#machine.knownTokens === 0 || tokens <= free;
  }
}
