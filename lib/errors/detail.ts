import { ConnectError } from "@connectrpc/connect";
import { type ErrorDetail, ErrorDetailSchema, type TokenBound } from "#gen/tollgate/errors/v1/error_detail_pb.js";

/** The typed detail of an error, whether it was thrown here or came over the wire. Undefined: the error is a bug. */
export function readDetail(error: unknown): ErrorDetail | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorDetailSchema)[0] : undefined;
}

/** The bound on tokens that an error exceeded. Unknown facts are absent. */
export function readTokenBound({ bound }: Pick<ErrorDetail, "bound">): TokenBoundFacts {
  return bound.case === "tokens" ? bound.value : {};
}

/** Numbers of tokens: the limit, the actual number and whether it is an estimate, and the requested output. */
export type TokenBoundFacts = Partial<Pick<TokenBound, "limit" | "actual" | "requestedOutput" | "estimated">>;
