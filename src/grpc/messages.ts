import { create, type DescMessage, type Message, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

/** The one message of a request that is a stream only in form. */
export async function onlyMessage(messages: AsyncIterable<Message>): Promise<Message> {
  for await (const message of messages) return message;
  throw new ConnectError("the request message is missing", Code.Unimplemented);
}

/** Completes partial messages. */
export async function* normalized<D extends DescMessage>(
  schema: D,
  messages: AsyncIterable<MessageInitShape<D>>,
): AsyncIterable<MessageShape<D>> {
  for await (const message of messages) yield create(schema, message);
}
