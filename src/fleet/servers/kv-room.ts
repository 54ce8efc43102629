import type { Machine } from "./machine.ts";

/** The part of a KV cache that is filled: what answers grow by beyond what was expected needs the rest. */
const usablePart = 0.9;

/** The room in a server's KV cache. */
export class KvRoom {
  readonly #configured: number | undefined;
  readonly #machine: Machine;

  /** `configured` is how many tokens the cache holds. Undefined: as many as the server tells. */
  constructor(configured: number | undefined, machine: Machine) {
    this.#configured = configured;
    this.#machine = machine;
  }

  /** Tokens that it holds. Undefined: neither configured nor told. */
  get tokens(): number | undefined {
    return this.#configured ?? this.#machine.load?.kvTokens;
  }

  /** Tokens that requests may take together. Undefined: its size is not known. */
  get usable(): number | undefined {
    const { tokens } = this;
    return tokens === undefined ? undefined : tokens * usablePart;
  }

  /** Tokens that nobody takes, ours or others; below zero when answers grew beyond it. Undefined: it is not known. */
  get free(): number | undefined {
    const { usable } = this;
    return usable === undefined ? undefined : usable - this.#machine.tokens;
  }

  /** Whether it has room for so many tokens. A request that is larger than all of it waits until it is alone. */
  takes(tokens: number): boolean {
    const { free } = this;
    return free === undefined || this.#machine.knownTokens === 0 || tokens <= free;
  }
}
