import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

/** The request of a server-streaming method: a stream in form, with one message that can be had without iterating. */
export class OneMessage implements AsyncIterable<Message> {
  readonly message: Message;

  constructor(message: Message) {
    this.message = message;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Message> {
    yield this.message;
  }
}

/** The one message of a server-streaming request, which an interceptor may have wrapped. */
export async function onlyMessage(messages: AsyncIterable<Message>): Promise<Message> {
  if (messages instanceof OneMessage) {
    return messages.message;
  }
  for await (const message of messages) {
    return message;
  }
  throw new ConnectError("the request message is missing", Code.Unimplemented);
}

/** The messages that a caller sends on a stream, partial ones completed. */
export async function readRequest<I extends DescMessage>(
  { methodKind, input }: DescMethodStreaming<I, DescMessage>,
  messages: AsyncIterable<MessageInitShape<I>>,
): Promise<AsyncIterable<Message>> {
  if (methodKind !== "server_streaming") {
    return normalized(input, messages);
  }
  for await (const message of messages) {
    return new OneMessage(create(input, message));
  }
  throw new ConnectError("the request message is missing", Code.Unimplemented);
}

async function* normalized<D extends DescMessage>(
  schema: D,
  messages: AsyncIterable<MessageInitShape<D>>,
): AsyncIterable<Message> {
  for await (const message of messages) {
    yield create(schema, message);
  }
}
