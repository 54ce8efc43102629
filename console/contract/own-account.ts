import type { Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { isCustomer, session } from "../app/session.ts";

/**
 * Has every call of a customer name the account that the page shows, where its request has a field for one. The core
 * refuses it where the session is another account's by now, which another tab has opened.
 */
export const nameOwnAccount: Interceptor = (next) => (request) => {
  const accountId = isCustomer.peek() ? (session.peek()?.accountId ?? "") : "";
  return next(
    request.stream
      ? { ...request, message: nameInAll(request.message, accountId) }
      : { ...request, message: nameIn(request.message, accountId) },
  );
};

async function* nameInAll(messages: AsyncIterable<Message>, accountId: string): AsyncIterable<Message> {
  for await (const message of messages) {
    yield nameIn(message, accountId);
  }
}

function nameIn(message: Message, accountId: string): Message {
  return "accountId" in message && message.accountId === "" ? Object.assign(message, { accountId }) : message;
}
