import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";

/**
 * Memory for bodies that are being read, all requests together: thousands of clients that each send a
 * large body slowly must not fill it.
 */
export class BodyBudget {
  #left: number;

  /** How many bytes there are in all. */
  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Takes bytes for a body. Throws OVERLOADED when there are none. */
  take(bytes: number): void {
    if (bytes > this.#left) throw overloaded();
    this.#left -= bytes;
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    this.#left += bytes;
  }
}

function overloaded(): ConnectError {
  const value = { reason: Reason.OVERLOADED, retryAfter: { seconds: 1n } };
  const message = "Too many large requests are being received at the moment.";
  return new ConnectError(message, Code.Unavailable, undefined, [{ desc: ErrorDetailSchema, value }]);
}
