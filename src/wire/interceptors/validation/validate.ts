import type { DescMessage, DescService, Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { OneMessage } from "../../grpc/messages/request-messages.ts";
import { type Check, createChecks } from "./message-checks.ts";

/**
 * Refuses messages that violate the contract's bounds on their fields, with INVALID_ARGUMENT, the field's path and a
 * sentence. The checks of all methods are compiled here. Throws when a pattern in the contract is invalid.
 */
export function validateRequests(services: readonly DescService[]): Interceptor {
  const compile = createChecks();
  const checks = new Map<DescMessage, Check>();
  for (const { input } of services.flatMap(({ methods }) => methods)) {
    const check = compile(input);
    if (check !== undefined) {
      checks.set(input, check);
    }
  }
  return (next) => (request) => {
    const check = checks.get(request.method.input);
    if (check === undefined) {
      return next(request);
    }
    if (!request.stream) {
      require(check, request.message);
      return next(request);
    }
    if (request.message instanceof OneMessage) {
      require(check, request.message.message); // spends nothing on iterating
      return next(request);
    }
    return next({ ...request, message: requireEach(check, request.message) });
  };
}

function require(check: Check, message: Message): void {
  const violation = check(message);
  if (violation !== undefined) {
    throw failure(Reason.INVALID_ARGUMENT, violation.message, { parameter: violation.path });
  }
}

async function* requireEach(check: Check, messages: AsyncIterable<Message>): AsyncGenerator<Message> {
  for await (const message of messages) {
    require(check, message);
    yield message;
  }
}
