import { isNativeError } from "node:util/types";

/**
 * The system's codes for a connection that is not made or that broke, and for a file that is not where it was opened.
 */
const socketCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ESTALE",
]);

/**
 * SQLSTATE: connection exceptions; a server that ends, starts or recovers; no connection left; a transaction that was
 * idle for too long; a server that is read-only because it is no longer the primary; transactions ended in favour of
 * others again and again.
 */
const sqlStates = /^(08...|57P0[1-3]|53300|25P03|25006|40001|40P01)$/;

/** Errors of the driver itself that have no code. */
const driverMessages =
  /^(timeout exceeded when trying to connect|timeout expired|Query read timeout|Connection terminated|Client has encountered a connection error)/;

/**
 * Whether a call failed because the database server is not there. The ORM's errors carry the driver's code or cause.
 */
export function isUnreachable(error: unknown): boolean {
  if (!isNativeError(error)) {
    return false;
  }
  const code = "code" in error ? String(error.code) : "";
  if (socketCodes.has(code) || sqlStates.test(code) || driverMessages.test(error.message)) {
    return true;
  }
  const inner = "errors" in error && Array.isArray(error.errors) ? error.errors : [error.cause];
  return inner.some(isUnreachable);
}
