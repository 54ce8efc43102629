import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { toDuration } from "#lib/time/duration.ts";
import { EngineFault, ImplausibleAnswer, UnrefusedInput } from "../interface.ts";
import { countIn } from "./counts.ts";

// The failures into which the errors of every engine are turned, whatever its protocol.

/** The engine broke, cannot be reached, or answered nonsense. */
export function engineFailed(what: string, transient: boolean, cause?: unknown): ConnectError {
  return failure(
    Reason.ENGINE_FAILED,
    "The inference server failed to answer.",
    {},
    new EngineFault(what, transient, cause),
  );
}

/** The connection to the engine failed. */
export function engineUnreachable(what: string, cause: unknown): ConnectError {
  return failure(
    Reason.ENGINE_FAILED,
    "The inference server failed to answer.",
    {},
    new EngineFault(what, true, cause, true),
  );
}

/** A count that the engine reported. Undefined: no number. Throws ENGINE_FAILED for a number that is no count. */
export function toldCount(where: string, told: unknown): number | undefined {
  const count = countIn(told);
  if (count === undefined && typeof told === "number") {
    throw failure(
      Reason.ENGINE_FAILED,
      "The inference server failed to answer.",
      {},
      new ImplausibleAnswer(`${where} counted ${told} tokens`, true),
    );
  }
  return count;
}

/** The engine's answer made our own code throw. */
export function unreadable(where: string, cause: unknown): ConnectError {
  const name = cause instanceof Error ? cause.name : "something"; // the message may quote the answer
  return engineFailed(`${where} sent what cannot be read (${name})`, true, cause);
}

/** The engine is full, or still loading its model. */
export function engineOverloaded(what: string, retryAfterMs: number): ConnectError {
  return failure(
    Reason.OVERLOADED,
    "The model is busy. Try again shortly.",
    { retryAfter: toDuration(retryAfterMs) },
    new EngineFault(what, true),
  );
}

/** The engine understood the request and refuses it for good, so that no other server will accept it. */
export function engineRefused(what: string): ConnectError {
  return failure(
    Reason.INVALID_ARGUMENT,
    "The model cannot process this request as it stands.",
    {},
    new EngineFault(what, false),
  );
}

/** Whether a call was refused in a way that no retry changes. */
export function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof EngineFault && !cause.transient;
}

/** The size of a prompt that does not fit, in tokens. Undefined where the engine did not say. */
export interface Overflow {
  readonly limit?: number | undefined;
  readonly actual?: number | undefined;
  readonly requestedOutput?: number | undefined;
}

/** The size that an error states. A value that is not a count is left out. */
function tokenBound(overflow: Overflow) {
  const limit = countIn(overflow.limit);
  const actual = countIn(overflow.actual);
  const requestedOutput = countIn(overflow.requestedOutput);
  const value = {
    ...(limit !== undefined && { limit: BigInt(limit) }),
    ...(actual !== undefined && { actual: BigInt(actual) }),
    ...(requestedOutput !== undefined && { requestedOutput: BigInt(requestedOutput) }),
  };
  return { case: "tokens", value } as const;
}

/** The prompt exceeds the context, alone or together with the requested output. */
export function contextExceeded(what: string, overflow: Overflow): ConnectError {
  const limit = countIn(overflow.limit);
  const actual = countIn(overflow.actual);
  const bound = limit === undefined ? "is exceeded" : `is ${limit} tokens`;
  const came = actual === undefined ? "" : ` The prompt has ${actual} tokens.`;
  return failure(
    Reason.CONTEXT_LENGTH_EXCEEDED,
    `This model's maximum context length ${bound}.${came}`,
    { bound: tokenBound(overflow) },
    new EngineFault(what, false),
  );
}

/** One input of an embeddings request is longer than the model accepts. */
export function inputTooLong(what: string, index: number | undefined, overflow: Overflow): ConnectError {
  return tooLong(new EngineFault(what, false), index, overflow);
}

/** The engine took an input that is too long, as its own count shows. */
export function unrefusedInput(index: number, limit: number, actual: number): ConnectError {
  return tooLong(new UnrefusedInput(`took an input of ${actual} tokens`, false), index, { limit, actual });
}

function tooLong(fault: EngineFault, index: number | undefined, overflow: Overflow): ConnectError {
  const limit = countIn(overflow.limit);
  const actual = countIn(overflow.actual);
  const which = index === undefined ? "An input" : `Input ${index}`;
  const came = actual === undefined ? "is too long" : `has ${actual} tokens`;
  const bound = limit === undefined ? "" : `; the maximum is ${limit}`;
  return failure(
    Reason.INPUT_TOO_LONG,
    `${which} ${came}${bound}.`,
    {
      parameter: index === undefined ? "inputs" : `inputs[${index}]`,
      bound: tokenBound(overflow),
    },
    fault,
  );
}

/**
 * The part of an engine's error that may be logged. Its message may quote the prompt anywhere, so only parts known to
 * be harmless are taken: names, and diagnoses that save operators a search. The engine's own log has the rest, under
 * the same run id.
 */
export function toDiagnosis(names: readonly unknown[], message: string): string {
  const known = diagnoses.flatMap((diagnosis) => diagnosis.exec(message)?.[0] ?? []);
  const scalars = names.filter((name) => typeof name === "string" || typeof name === "number");
  const plain = scalars.map(String).filter((name) => /^[\w.-]{1,64}$/.test(name));
  return [...plain, ...known].join(" ");
}

const diagnoses = [
  /out of memory/i,
  /does not exist/i,
  /not found/i,
  /context length/i,
  /loading model/i,
  /shutting down/i,
  /engine ?core|engine is dead|enginedead/i,
  /chat template/i,
  /overloaded/i,
  /unauthorized|invalid api key/i,
];
