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
 * SQLSTATE: connection exceptions; a server that ends, starts or recovers; a full or failing disk, no memory or no
 * connection left; a transaction that was idle for too long; a server that is read-only because it is no longer the
 * primary; transactions ended in favour of others again and again.
 */
const sqlStates = /^(08...|57P0[1-3]|53[0-3]00|58030|25P03|25006|40001|40P01)$/;

/** SQLite's codes for a failing and for a full disk, without their extended parts. */
const sqliteCodes = new Set([10, 13]);

/** Errors of the driver itself that have no code. */
const driverMessages =
  /^(timeout exceeded when trying to connect|timeout expired|Query read timeout|Connection terminated|Client has encountered a connection error)/;

/**
 * Whether a call failed because the database is not there or takes nothing at the moment, whatever it is asked. The ORM's errors carry the driver's code or cause.
 */
export function isUnreachable(error: unknown): boolean {
  if (!isNativeError(error)) {
    return false;
  }
  const code = "code" in error ? String(error.code) : "";
  const sqlite = "errcode" in error ? Number(error.errcode) & 0xff : 0;
  if (socketCodes.has(code) || sqlStates.test(code) || sqliteCodes.has(sqlite) || driverMessages.test(error.message)) {
    return true;
  }
  const inner = "errors" in error && Array.isArray(error.errors) ? error.errors : [error.cause];
  return inner.some(isUnreachable);
}
