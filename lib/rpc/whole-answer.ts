/** A stream of one message that is still to be made. Whoever carries it may wait for it as for a single answer. */
export class WholeAnswer<M> implements AsyncIterable<M> {
  /** Makes the message. For one reader, once. */
  readonly make: () => Promise<M>;

  constructor(make: () => Promise<M>) {
    this.make = make;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<M, undefined> {
    yield await this.make();
  }
}
