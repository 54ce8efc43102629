import { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { toDuration, toMilliseconds } from "#lib/time/duration.ts";
import { EngineFault, ImplausibleAnswer } from "../engines/interface.ts";

// These functions judge a server by a failed call that ran on it.

/** Whether another server may succeed. */
export function isTransient(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof EngineFault && cause.transient;
}

/** For how many milliseconds a full server asks to be left alone. Undefined: it did not say that it is full. */
export function fullForMs(error: unknown): number | undefined {
  const detail = readDetail(error);
  if (detail?.reason !== Reason.OVERLOADED) {
    return undefined;
  }
  return detail.retryAfter === undefined ? 1000 : toMilliseconds(detail.retryAfter);
}

/**
 * Whether the server itself is at fault: it broke, fell silent or is misconfigured. A misconfigured server fails fast
 * and so looks idle, which makes it the most important to take out of use.
 */
export function isServersFault(error: unknown): boolean {
  const reason = readDetail(error)?.reason;
  return reason === Reason.TIMEOUT || reason === Reason.ENGINE_FAILED;
}

/**
 * Adds to a failure the time after which a retry may succeed: by then the server was checked again. The failure stays
 * as it is where it carries its own delay, or where no retry helps.
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

/** Whether the connection to the server failed, so that nothing of the request reached it. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof EngineFault && error.cause.unreachable;
}

/** Whether the server reported something impossible. */
export function isImplausible(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof ImplausibleAnswer;
}

/** The failure of a server that is unfit or answered nonsense. `transient`: another server may succeed. */
export function serverFailed(what: string, transient: boolean, cause?: unknown): Error {
  const fault = new EngineFault(what, transient, cause);
  return failure(Reason.ENGINE_FAILED, "The inference server failed to answer.", {}, fault);
}

/** Turns an error of an engine call into a failure. An error that the answer caused in our code is the engine's. */
export function toFailure(error: unknown, server: string, signal: AbortSignal): unknown {
  if (signal.aborted || readDetail(error) !== undefined) {
    return error;
  }
  const name = error instanceof Error ? error.name : "something"; // the message may quote the answer
  return serverFailed(`${server} sent what cannot be read (${name})`, true, error);
}

/** The cause of an error, for the operator. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  return error.cause instanceof EngineFault ? error.cause.message : error.message;
}
