/** A stream of one message, which can be read without iterating: that costs several promises less. */
export class SingleMessage<M> implements AsyncIterable<M> {
  readonly message: M;

  constructor(message: M) {
    this.message = message;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<M, undefined> {
    yield this.message;
  }
}
