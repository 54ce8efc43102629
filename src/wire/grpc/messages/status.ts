import { Code, ConnectError } from "@connectrpc/connect";
import { findTrailerError, headerStatusDetailsBin, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { StatusObject } from "@grpc/grpc-js";
import { toHeaders, toMetadata } from "./metadata.ts";

/**
 * The most characters of an error's message. A longer one could exceed the peer's bound on headers, and the whole error
 * would be lost.
 */
const longestMessage = 1000;

/** An error as the final status of a gRPC call, with its details in grpc-status-details-bin. */
export function toStatus(error: unknown): StatusObject {
  const { code, rawMessage, metadata, details } = ConnectError.from(error, Code.Internal);
  // Half a surrogate pair cannot be encoded: grpc-js would throw outside of any call.
  const message = rawMessage.slice(0, longestMessage).toWellFormed();
  const headers = setTrailerStatus(
    new Headers(),
    Object.assign(new ConnectError(message, code, metadata), { details }),
  );
  headers.delete("grpc-status");
  headers.delete("grpc-message");
  return { code: code as number, details: message, metadata: toMetadata(headers) };
}

/** The error with which a gRPC call ended, with its details unpacked. */
export function toConnectError({ code, details, metadata }: StatusObject): ConnectError {
  const trailer = toHeaders(metadata);
  if (trailer.has(headerStatusDetailsBin)) {
    const error = findTrailerError(trailer);
    if (error) {
      return error;
    }
  }
  return new ConnectError(details, code in Code ? (code as number) : Code.Unknown, trailer);
}
