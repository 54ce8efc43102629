import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { EngineOutput } from "../../interface.ts";

/** Events, and socket bytes, that may wait for a slow reader before the engine's socket is paused. */
const highWater = 256;
const highWaterBytes = 256 * 1024;

/** The source of a queue's outputs, as the queue controls it. */
export interface OutputSource {
  /** The reader is slow: deliver nothing more for now. */
  pause(): void;
  /** The reader has caught up. */
  resume(): void;
  /** Nobody reads any more: stop the engine. */
  cancel(): void;
}

/**
 * Passes the outputs of a push source, such as a socket, to one reader. Waiting outputs are merged into one. Outputs
 * pushed before a failure are read before the failure, because they carry counted tokens.
 */
export class OutputQueue implements AsyncIterableIterator<EngineOutput, undefined> {
  readonly #source: OutputSource;
  #waiting: EngineOutput | undefined;
  /** The waiting events. The array belongs to the queue, so that more events are appended in place. */
  #waitingEvents: GenerationEvent[] = [];
  #waitingBytes = 0;
  #reader: PromiseWithResolvers<IteratorResult<EngineOutput, undefined>> | undefined;
  #ended = false;
  #error: unknown;
  #paused = false;

  constructor(source: OutputSource) {
    this.#source = source;
  }

  /** `bytes`: how many socket bytes the output was made from. */
  push(output: EngineOutput, bytes = 0): void {
    if (this.#ended) {
      return;
    }
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      reader.resolve({ done: false, value: output });
      return;
    }
    this.#add(output);
    this.#waitingBytes += bytes;
    const isMuch = this.#waitingEvents.length > highWater || this.#waitingBytes > highWaterBytes;
    if (!this.#paused && isMuch) {
      this.#paused = true;
      this.#source.pause();
    }
  }

  /** No more outputs follow. */
  end(): void {
    if (this.#ended) {
      return;
    }
    this.#ended = true;
    this.#reader?.resolve({ done: true, value: undefined });
  }

  /** No more outputs follow, because of an error. */
  fail(error: unknown): void {
    if (this.#ended) {
      return;
    }
    this.#ended = true;
    if (this.#reader === undefined) {
      this.#error = error;
    } else {
      this.#reader.reject(error);
    }
  }

  next(): Promise<IteratorResult<EngineOutput, undefined>> {
    const value = this.#waiting;
    if (value !== undefined) {
      this.#waiting = undefined;
      this.#waitingBytes = 0;
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
    if (this.#ended) {
      return Promise.resolve({ done: true, value: undefined });
    }
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

  #add(output: EngineOutput): void {
    if (this.#waiting === undefined) {
      this.#waitingEvents = [...output.events];
    } else {
      for (const event of output.events) {
        this.#waitingEvents.push(event);
      }
    }
    this.#waiting = { ...this.#waiting, ...output, events: this.#waitingEvents };
  }
}
