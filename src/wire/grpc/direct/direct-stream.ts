import { create, type DescMessage, type Message, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallSignal } from "../call-signal.ts";

const end: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * The messages of a handler on their way to a caller in the same process. Adds one promise for each message, through
 * which the call's end reaches the caller of a stuck handler. For one reader at a time.
 */
export class DirectStream<O extends DescMessage> implements AsyncIterableIterator<MessageShape<O>, undefined> {
  readonly #source: AsyncIterator<Message>;
  readonly #schema: O;
  readonly #life: CallSignal;
  #first: Promise<IteratorResult<MessageShape<O>, undefined>> | undefined;
  #pending = false;
  #resolve: (result: IteratorResult<MessageShape<O>, undefined>) => void = ignore;
  #reject: (error: unknown) => void = ignore;
  #over = false;
  /** Whether the handler has ended by itself, so that there is nothing to stop. */
  #isWhole = false;

  /** Takes the implementation's messages: complete ones of this schema or parts of them. */
  constructor(messages: AsyncIterable<Message>, schema: O, life: CallSignal) {
    this.#source = messages[Symbol.asyncIterator]();
    this.#schema = schema;
    this.#life = life;
    life.onEnd(this.#onAbort);
  }

  /**
   * Starts the handler. Resolves when its first message or its failure has come, and with it the response's headers.
   */
  started(): Promise<this> {
    const first = this.next();
    this.#first = first;
    const self = () => this;
    return first.then(self, self); // the reader gets the failure
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<MessageShape<O>, undefined>> {
    const first = this.#first;
    if (first) {
      this.#first = undefined;
      return first;
    }
    if (this.#over) {
      return Promise.resolve(end);
    }
    if (this.#life.reason !== undefined) {
      this.#over = true;
      return Promise.reject(this.#life.reason);
    }
    this.#pending = true;
    return new Promise(this.#pull);
  }

  /** The caller stops early: cancels the call. */
  return(): Promise<IteratorReturnResult<undefined>> {
    this.#first = undefined;
    this.#over = true;
    this.#life.abort(new ConnectError("the caller cancelled the call", Code.Canceled));
    return Promise.resolve(end);
  }

  // These functions are created once for each stream, not for each message.

  readonly #pull = (
    resolve: (result: IteratorResult<MessageShape<O>, undefined>) => void,
    reject: (error: unknown) => void,
  ): void => {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#source.next().then(this.#deliver, this.#fail);
  };

  readonly #deliver = (result: IteratorResult<Message>): void => {
    if (this.#over) {
      return;
    }
    this.#pending = false;
    if (result.done) {
      this.#over = true;
      this.#isWhole = true;
      this.#life.complete();
      this.#resolve(end);
    } else {
      this.#resolve({ done: false, value: create(this.#schema, result.value as MessageInitShape<O>) });
    }
  };

  readonly #fail = (reason: unknown): void => {
    if (this.#over) {
      return;
    }
    this.#pending = false;
    this.#over = true;
    const error = ConnectError.from(reason, Code.Internal);
    this.#life.abort(error);
    this.#reject(error);
  };

  readonly #onAbort = (): void => {
    if (this.#pending) {
      this.#fail(this.#life.reason);
    }
    if (!this.#isWhole) {
      this.#source.return?.().catch(ignore);
    }
  };
}

function ignore(): void {}
