import type { Logger } from "../../lib/logger.ts";

/** Drops everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Drops everything but errors, which a test that expects none shows on standard error. */
export const errorLogger: Logger = { ...silentLogger, error: (fields, message) => console.error(message, fields) };
