import type { ConnectError } from "@connectrpc/connect";

/** The state of a key's rolling minute. */
export interface RateLimitState {
  /** Requests allowed in any 60 seconds. */
  readonly limit: number;
  /** Requests that would be admitted right now. */
  readonly remaining: number;
  /** Milliseconds until the whole limit is available again. 0: it is. */
  readonly resetAfterMs: number;
  /** Its state in tokens a minute. Undefined: it has no such limit. */
  readonly tokens?: TokenLimitState;
}

/** The state of a key in tokens a minute, including tokens that running requests may yet take. */
export interface TokenLimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAfterMs: number;
}

/**
 * The metadata key, of responses and of errors, with a key's rate-limit state: `limit=60, remaining=59, reset=0.25`, a
 * dictionary of RFC 9651 whose `reset` is in seconds and left out when it is 0. A limit of tokens follows as
 * `tokens-limit`, `tokens-remaining`, `tokens-reset`. All in one metadata key rather than three, because each costs
 * every call as much again.
 */
export const rateLimitHeader = "x-tollgate-rate-limit";

/** Adds a key's rate-limit state to a response's metadata. */
export function writeRateLimit(metadata: Headers, state: RateLimitState): void {
  const told = dictionary("", state);
  const { tokens } = state;
  metadata.set(rateLimitHeader, tokens === undefined ? told : `${told}, ${dictionary("tokens-", tokens)}`);
}

function dictionary(prefix: string, { limit, remaining, resetAfterMs }: TokenLimitState): string {
  const reset = resetAfterMs > 0 ? `, ${prefix}reset=${Math.ceil(resetAfterMs) / 1000}` : "";
  return `${prefix}limit=${limit}, ${prefix}remaining=${remaining}${reset}`;
}

/** Adds a key's rate-limit state to an error's metadata, and returns the error. */
export function withRateLimit(error: ConnectError, state: RateLimitState): ConnectError {
  writeRateLimit(error.metadata, state);
  return error;
}

const form = (prefix: string) =>
  `${prefix}limit=(\\d{1,10}), ${prefix}remaining=(\\d{1,10})(?:, ${prefix}reset=(\\d{1,10}(?:\\.\\d{1,3})?))?`;
const whole = new RegExp(`^${form("")}(?:, ${form("tokens-")})?$`);

/** Reads a key's rate-limit state from a response's or an error's metadata. Undefined: they have none. */
export function readRateLimit(metadata: Headers): RateLimitState | undefined {
  const found = whole.exec(metadata.get(rateLimitHeader) ?? "");
  if (found === null) {
    return undefined;
  }
  const [, limit, remaining, reset, tokenLimit, tokensRemaining, tokensReset] = found;
  const requests = readState(limit, remaining, reset);
  return tokenLimit === undefined
    ? requests
    : { ...requests, tokens: readState(tokenLimit, tokensRemaining, tokensReset) };
}

function readState(limit: string | undefined, remaining: string | undefined, reset = "0"): TokenLimitState {
  return { limit: Number(limit), remaining: Number(remaining), resetAfterMs: Math.round(Number(reset) * 1000) };
}
