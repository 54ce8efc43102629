import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { SingleMessage } from "#lib/rpc/single-message.ts";

/** The request of a server-streaming method: a stream of one message. */
export class OneMessage extends SingleMessage<Message> {}

/** The one message of a stream, such as a server-streaming request, which an interceptor may have wrapped. */
export async function onlyMessage<M extends Message>(messages: AsyncIterable<M>): Promise<M> {
  if (messages instanceof OneMessage) {
    return messages.message as M;
  }
  for await (const message of messages) {
    return message;
  }
  throw new ConnectError("the request message is missing", Code.Unimplemented);
}

/** The messages that a caller sends on a stream, with partial ones completed. Returns at once where possible. */
export function readRequest<I extends DescMessage>(
  { methodKind, input }: DescMethodStreaming<I, DescMessage>,
  messages: AsyncIterable<MessageInitShape<I>>,
): AsyncIterable<Message> | Promise<AsyncIterable<Message>> {
  if (methodKind !== "server_streaming") {
    return normalized(input, messages);
  }
  return messages instanceof SingleMessage
    ? new OneMessage(create(input, messages.message as MessageInitShape<I>))
    : readFirst(input, messages);
}

async function readFirst<I extends DescMessage>(
  input: I,
  messages: AsyncIterable<MessageInitShape<I>>,
): Promise<AsyncIterable<Message>> {
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
