import { isNativeError } from "node:util/types";

/** The system's codes for a connection that is not made or that broke, and for a file that is not where it was opened. */
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
 * SQLSTATE: connection exceptions, a server that ends, starts or recovers, one that has no connection left, one that has
 * heard nothing within a transaction for too long, one that may only be read since it is no longer the primary, and
 * transactions that it ended in favour of others again and again.
 */
const sqlStates = /^(08...|57P0[1-3]|53300|25P03|25006|40001|40P01)$/;

/** The driver gives these of its own no code. */
const driverMessages =
  /^(timeout exceeded when trying to connect|timeout expired|Query read timeout|Connection terminated|Client has encountered a connection error)/;

/** Whether a call failed because the database server is not there; the ORM's errors carry the driver's code or cause. */
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
