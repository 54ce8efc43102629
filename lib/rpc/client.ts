import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { type CallOptions, type Client, makeAnyClient, type StreamResponse, type Transport } from "@connectrpc/connect";
import { SingleMessage } from "./single-message.ts";

/**
 * A typed client of a service with unary and server-streaming methods. It works like Connect's own, with two
 * differences: a stream costs a fraction (Connect compiles async generators down, which costs 20 µs a stream), and a
 * reader that leaves a stream early ends the call.
 */
export function createClient<S extends DescService>(service: S, transport: Transport): Client<S> {
  return makeAnyClient(service, (method) => {
    switch (method.methodKind) {
      case "unary":
        return unary(transport, method);
      case "server_streaming":
        return serverStreaming(transport, method);
      default:
        return null;
    }
  }) as Client<S>;
}

function unary<I extends DescMessage, O extends DescMessage>(transport: Transport, method: DescMethodUnary<I, O>) {
  return async (input: MessageInitShape<I>, options: CallOptions = {}): Promise<MessageShape<O>> => {
    const { signal, timeoutMs, headers, contextValues, onHeader, onTrailer } = options;
    const { header, trailer, message } = await transport.unary(
      method,
      signal,
      timeoutMs,
      headers,
      input,
      contextValues,
    );
    onHeader?.(header);
    onTrailer?.(trailer);
    return message;
  };
}

function serverStreaming<I extends DescMessage, O extends DescMessage>(
  transport: Transport,
  method: DescMethodServerStreaming<I, O>,
) {
  return (input: MessageInitShape<I>, options: CallOptions = {}): AsyncIterable<MessageShape<O>> => {
    const { signal, timeoutMs, headers, contextValues } = options;
    const open = () => transport.stream(method, signal, timeoutMs, headers, new SingleMessage(input), contextValues);
    return new Messages(open, options);
  };
}

/** The messages of a call. The call starts when the first message is asked for. */
class Messages<O extends DescMessage> implements AsyncIterableIterator<MessageShape<O>, undefined> {
  readonly #open: () => Promise<StreamResponse<DescMessage, O>>;
  readonly #options: CallOptions;
  #source: AsyncIterator<MessageShape<O>, undefined> | undefined;

  constructor(open: () => Promise<StreamResponse<DescMessage, O>>, options: CallOptions) {
    this.#open = open;
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<MessageShape<O>, undefined>> {
    return this.#source ? this.#source.next() : this.#start();
  }

  async return(): Promise<IteratorResult<MessageShape<O>, undefined>> {
    await this.#source?.return?.();
    return { done: true, value: undefined };
  }

  async #start(): Promise<IteratorResult<MessageShape<O>, undefined>> {
    const response = await this.#open(); // not destructured: reading its headers costs something
    const { onHeader, onTrailer } = this.#options;
    onHeader?.(response.header);
    const messages = onTrailer ? withEnd(response.message, () => onTrailer(response.trailer)) : response.message;
    this.#source = messages[Symbol.asyncIterator]();
    return this.#source.next();
  }
}

async function* withEnd<M>(messages: AsyncIterable<M>, onEnd: () => void): AsyncGenerator<M, undefined> {
  yield* messages;
  onEnd();
}
