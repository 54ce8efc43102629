import { type DescMessage, type DescMethod, fromBinary, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Channel, Metadata, status as Status, type StatusObject } from "@grpc/grpc-js";
import type { CallSignal } from "../call-signal.ts";
import { maxRequestBytes } from "../messages/limits.ts";
import { type HeadersInit, toHeaders, toMetadata } from "../messages/metadata.ts";
import { toConnectError } from "../messages/status.ts";
import { requestTooLarge } from "../messages/too-large.ts";
import { toBytes } from "../workarounds/writer-room.ts";
import type { ChannelPool, PooledChannel } from "./channel-pool.ts";

type Result = IteratorResult<Message, undefined>;

const end: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** Messages that are read from the connection before they are asked for. */
const readAhead = 16;

/**
 * One call of any kind over a grpc-js channel, and its response messages, for one reader at a time. It uses the channel
 * directly: grpc-js's client would add an event emitter, a stream and a captured stack to every call, a quarter of a
 * small call's CPU time on both sides together.
 */
export class ClientCall implements AsyncIterableIterator<Message, undefined> {
  /** Resolves when the headers have arrived, or the status that came instead of them. */
  readonly opened: Promise<void>;
  readonly #call: ReturnType<Channel["createCall"]>;
  readonly #input: DescMessage;
  readonly #output: DescMessage;
  readonly #life: CallSignal;
  readonly #received: Message[] = [];
  #header: Metadata | undefined;
  #status: StatusObject | undefined;
  #trailer: Headers | undefined;
  #over = false;
  /** Ends the wait until a request message is on its way. */
  #sent = (): void => {};
  #waiting: PromiseWithResolvers<Result> | undefined;

  /**
   * Starts the call. `deadline` is in milliseconds since the Unix epoch. Throws UNAVAILABLE when the channels are closed.
   */
  constructor(channels: ChannelPool, method: DescMethod, header: HeadersInit, deadline: number, life: CallSignal) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.opened = promise;
    this.#input = method.input;
    this.#output = method.output;
    this.#life = life;
    const pooled = channels.take();
    this.#call = createCall(pooled, `/${method.parent.typeName}/${method.name}`, deadline);
    this.#call.start(toMetadata(header), {
      onReceiveMetadata: (metadata) => {
        this.#header = metadata;
        resolve();
      },
      onReceiveMessage: (bytes) => this.#receive(bytes),
      onReceiveStatus: (status) => {
        pooled.calls -= 1;
        this.#status ??= status;
        if (this.#trailer) {
          toHeaders(this.#status.metadata, this.#trailer);
        }
        resolve();
        this.#finishIfRead();
      },
    });
    this.#call.startRead();
    life.onEnd(this.#cancel);
  }

  // Created from the metadata on demand, which is rare.

  get header(): Headers {
    return this.#header ? toHeaders(this.#header) : new Headers();
  }

  /** Filled when the call is over. */
  get trailer(): Headers {
    this.#trailer ??= this.#status ? toHeaders(this.#status.metadata) : new Headers();
    return this.#trailer;
  }

  /** Sends the only request message. */
  sendOnly(bytes: Buffer): void {
    this.#call.sendMessageWithContext({}, bytes);
    this.#call.halfClose();
  }

  /** Sends request messages. Each waits until the previous one is on its way. */
  async sendAll(messages: AsyncIterable<Message>): Promise<void> {
    try {
      for await (const message of messages) {
        if (this.#life.reason) {
          return;
        }
        const bytes = toBytes(this.#input, message);
        if (bytes.length > maxRequestBytes) {
          throw requestTooLarge(bytes.length);
        }
        await new Promise<void>((resolve) => {
          this.#sent = resolve;
          this.#call.sendMessageWithContext({ callback: () => resolve() }, bytes);
        });
      }
      this.#call.halfClose();
    } catch (error) {
      this.#life.abort(ConnectError.from(error, Code.Internal));
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    const value = this.#received.shift();
    if (value) {
      if (this.#received.length === readAhead - 1) {
        this.#call.startRead();
      }
      return Promise.resolve({ done: false, value });
    }
    if (this.#over) {
      return Promise.resolve(end);
    }
    this.#waiting = Promise.withResolvers();
    const { promise } = this.#waiting;
    this.#finishIfRead();
    return promise;
  }

  /** The caller stops early: cancels the call. */
  return(): Promise<Result> {
    this.#over = true;
    this.#received.length = 0;
    this.#life.abort(new ConnectError("the caller cancelled the call", Code.Canceled));
    return Promise.resolve(end);
  }

  #receive(bytes: Buffer): void {
    let value: Message;
    try {
      value = fromBinary(this.#output, bytes);
    } catch (cause) {
      const details = "a response message cannot be read";
      this.#status = { code: Status.INTERNAL, details, metadata: new Metadata() };
      this.#call.cancelWithStatus(Status.INTERNAL, `${details}: ${cause}`);
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) {
      waiting.resolve({ done: false, value });
    } else {
      this.#received.push(value);
    }
    if (this.#received.length < readAhead) {
      this.#call.startRead();
    }
  }

  /** Ends the reader's wait when nothing more comes. */
  #finishIfRead(): void {
    const waiting = this.#waiting;
    const status = this.#status;
    if (!waiting || !status) {
      return;
    }
    this.#waiting = undefined;
    this.#over = true;
    if (status.code === Status.OK) {
      this.#life.complete();
      waiting.resolve(end);
    } else {
      // When the caller gave up first, its own reason says more than the resulting status.
      this.#life.abort(toConnectError(status));
      waiting.reject(this.#life.reason);
    }
  }

  readonly #cancel = (): void => {
    this.#sent();
    if (!this.#status) {
      this.#call.cancelWithStatus(Status.CANCELLED, "the caller cancelled the call");
    }
  };
}

function createCall(pooled: PooledChannel, path: string, deadline: number) {
  try {
    return pooled.channel.createCall(path, deadline, null, null, null);
  } catch (cause) {
    pooled.calls -= 1;
    throw new ConnectError("the transport is closed", Code.Unavailable, undefined, undefined, cause);
  }
}
