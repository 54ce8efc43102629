import { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "../../../lib/errors/detail.ts";
import { failure } from "../../../lib/errors/failure.ts";
import { toDuration, toMilliseconds } from "../../../lib/time/duration.ts";
import { EngineFault, ImplausibleAnswer } from "../../engines/interface.ts";

// Judges, from a failed call, the server that it ran on.

/** Whether another server may succeed. */
export function isTransient(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof EngineFault && cause.transient;
}

/** How long the server wants to be left alone, in milliseconds. Undefined: it did not say that it is full. */
export function fullForMs(error: unknown): number | undefined {
  const detail = readDetail(error);
  if (detail?.reason !== Reason.OVERLOADED) {
    return undefined;
  }
  return detail.retryAfter === undefined ? 1000 : toMilliseconds(detail.retryAfter);
}

/**
 * Whether the server itself is to blame: it broke, it fell silent, or it is set up wrongly. The last fails
 * fast and so looks idle: least of all may that one stay in use.
 */
export function isServersFault(error: unknown): boolean {
  const reason = readDetail(error)?.reason;
  return reason === Reason.TIMEOUT || reason === Reason.ENGINE_FAILED;
}

/**
 * A failure with the time after which a retry may succeed: when the server was checked again. As it is where
 * the error tells itself, or where no retry helps.
 */
export function withRetryDelay(error: unknown, ms: number): unknown {
  const detail = readDetail(error);
  if (!(error instanceof ConnectError) || detail?.reason !== Reason.ENGINE_FAILED || !isTransient(error)) {
    return error;
  }
  if (detail.retryAfter !== undefined) {
    return error;
  }
  return failure(detail.reason, error.rawMessage, { retryAfter: toDuration(ms) }, error.cause);
}

/** Whether no connection to the server could be made, so that nothing of the request reached it. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof EngineFault && error.cause.unreachable;
}

/** Whether the server told what cannot be true. */
export function isImplausible(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof ImplausibleAnswer;
}

/** A server is not fit, or answered nonsense; `transient`: another one may do better. */
export function serverFailed(what: string, transient: boolean, cause?: unknown): Error {
  const fault = new EngineFault(what, transient, cause);
  return failure(Reason.ENGINE_FAILED, "The inference server failed to answer.", {}, fault);
}

/** Turns an error of a call to an engine into a failure. An error that its answer caused in our code is the engine's fault. */
export function toFailure(error: unknown, server: string, signal: AbortSignal): unknown {
  if (signal.aborted || readDetail(error) !== undefined) {
    return error;
  }
  const name = error instanceof Error ? error.name : "something"; // its message may quote the answer
  return serverFailed(`${server} sent what cannot be read (${name})`, true, error);
}

/** The real cause, for the operator. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  return error.cause instanceof EngineFault ? error.cause.message : error.message;
}
