import type { Logger } from "#lib/logger.ts";

/** Drops everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Drops everything but errors. A test that expects none shows them on standard error. */
export const errorLogger: Logger = { ...silentLogger, error: (fields, message) => console.error(message, fields) };
