import { OneMessage } from "../grpc/messages/request-messages.ts";

/**
 * Passes a stream on and reports once how it ended: with an error, or without one because it was complete or its reader
 * stopped. The stream ends with the error that `onEnd` makes from the original. Costs one promise for each message,
 * however many watch the same stream.
 */
export function watchStream<M>(messages: AsyncIterable<M>, onEnd: OnEnd): AsyncIterable<M> {
  if (messages instanceof OneMessage) {
    onEnd();
    return messages;
  }
  return messages instanceof WatchedStream ? messages.watchedBy(onEnd) : new WatchedStream(messages, onEnd);
}

type OnEnd = (error?: unknown) => unknown;

class WatchedStream<M> implements AsyncIterableIterator<M> {
  readonly #messages: AsyncIterable<M>;
  /** The innermost first. Each gets the error that the previous one made. */
  readonly #onEnds: OnEnd[];
  #source: AsyncIterator<M> | undefined;
  #over = false; // the stream has ended; a reader may still ask a failed stream to clean up

  constructor(messages: AsyncIterable<M>, onEnd: OnEnd) {
    this.#messages = messages;
    this.#onEnds = [onEnd];
  }

  watchedBy(onEnd: OnEnd): this {
    this.#onEnds.push(onEnd);
    return this;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<M>> {
    return this.#open().next().then(this.#onResult, this.#onError);
  }

  async return(): Promise<IteratorResult<M>> {
    await this.#open().return?.().catch(this.#onError); // an error while the handler cleans up fails the call
    this.#end();
    return { done: true, value: undefined };
  }

  #open(): AsyncIterator<M> {
    this.#source ??= this.#messages[Symbol.asyncIterator]();
    return this.#source;
  }

  // These functions are created once for each stream, not for each message.

  readonly #onResult = (result: IteratorResult<M>): IteratorResult<M> => {
    if (result.done) {
      this.#end();
    }
    return result;
  };

  readonly #onError = (error: unknown): never => {
    throw this.#end(error);
  };

  #end(error?: unknown): unknown {
    if (this.#over) {
      return error;
    }
    this.#over = true;
    return this.#onEnds.reduce((last, onEnd) => onEnd(last), error);
  }
}
