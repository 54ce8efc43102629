/**
 * A stream of one message, which can be read without iterating. Not an async generator, which costs several promises
 * more.
 */
export class SingleMessage<M> implements AsyncIterable<M> {
  readonly message: M;

  constructor(message: M) {
    this.message = message;
  }

  [Symbol.asyncIterator](): AsyncIterator<M> {
    return new SingleIterator(this.message);
  }
}

class SingleIterator<M> implements AsyncIterator<M> {
  readonly #message: M;
  #isSent = false;

  constructor(message: M) {
    this.#message = message;
  }

  async next(): Promise<IteratorResult<M>> {
    if (this.#isSent) {
      return { done: true, value: undefined };
    }
    this.#isSent = true;
    return { done: false, value: this.#message };
  }
}
