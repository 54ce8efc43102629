import type { EngineOutput } from "../../interface.ts";

/** Events that may wait for a slow reader before the engine's socket is paused. */
const highWater = 256;

/** The source of a queue's outputs, as the queue steers it. */
export interface OutputSource {
  /** The reader is slow: bring nothing more for now. */
  pause(): void;
  /** The reader has caught up. */
  resume(): void;
  /** Nobody reads any more: stop the engine. */
  cancel(): void;
}

/**
 * Hands the outputs of a push source, such as a socket, to one reader. Outputs that wait are merged into
 * one. What was pushed before a failure is read before the failure, because it carries counted tokens.
 */
export class OutputQueue implements AsyncIterableIterator<EngineOutput, undefined> {
  readonly #source: OutputSource;
  #waiting: EngineOutput | undefined;
  #reader: PromiseWithResolvers<IteratorResult<EngineOutput, undefined>> | undefined;
  #ended = false;
  #error: unknown;
  #paused = false;

  constructor(source: OutputSource) {
    this.#source = source;
  }

  push(output: EngineOutput): void {
    if (this.#ended) return;
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      reader.resolve({ done: false, value: output });
      return;
    }
    this.#waiting = this.#waiting === undefined ? output : merge(this.#waiting, output);
    if (!this.#paused && this.#waiting.events.length > highWater) {
      this.#paused = true;
      this.#source.pause();
    }
  }

  /** No more outputs. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#reader?.resolve({ done: true, value: undefined });
  }

  /** No more outputs, because of an error. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#reader === undefined) this.#error = error;
    else this.#reader.reject(error);
  }

  next(): Promise<IteratorResult<EngineOutput, undefined>> {
    const value = this.#waiting;
    if (value !== undefined) {
      this.#waiting = undefined;
      if (this.#paused) {
        this.#paused = false;
        this.#source.resume();
      }
      return Promise.resolve({ done: false, value });
    }
    if (this.#error !== undefined) {
      const error = this.#error;
      this.#error = undefined;
      return Promise.reject(error);
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  return(): Promise<IteratorResult<EngineOutput, undefined>> {
    this.#waiting = undefined;
    this.#error = undefined;
    this.end();
    this.#source.cancel();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

function merge(first: EngineOutput, second: EngineOutput): EngineOutput {
  return { ...first, ...second, events: [...first.events, ...second.events] };
}
