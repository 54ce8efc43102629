import { InvalidArgumentError } from "commander";
import { findReasonText } from "#lib/errors/reason-texts.ts";
import { maxPicoUsd, parseRate, parseUsd } from "#lib/money/money.ts";
import { dayMs } from "#lib/time/days.ts";
import { parseMoment } from "#lib/time/moment.ts";
import { maxBasePort } from "#src/config/ports/move-ports.ts";

// Parsers of command line arguments. Commander prints their messages after the option's name.

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: dayMs };

/** An amount of USD above zero, in pico-USD. */
export function usd(text: string): bigint {
  const pico = parseUsd(text);
  if (pico === undefined || pico === 0n || pico > maxPicoUsd) {
    throw new InvalidArgumentError("It must be an amount of USD above 0 and below 9007, such as 10 or 0.25.");
  }
  return pico;
}

/** A price in USD per 1M tokens, in pico-USD a token. */
export function rate(text: string): bigint {
  const pico = parseRate(text);
  if (pico === undefined) {
    throw new InvalidArgumentError("It must be USD per 1M tokens with at most 6 decimals, such as 0.20.");
  }
  return pico;
}

/** A whole number above zero. */
export function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new InvalidArgumentError("It must be a whole number above 0 and below 1,000,000,000.");
  }
  return Number(text);
}

/** Reads a limit. "none" and "0" lift it and are returned as "none". `none`: what that does, in words. */
export function orNone<T>(parse: (text: string) => T, none = "lifts the limit"): (text: string) => T | "none" {
  return (text) => {
    if (text === "0" || text === "none") {
      return "none";
    }
    try {
      return parse(text);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new InvalidArgumentError(`${reason} "none" ${none}.`);
    }
  };
}

/** A moment, or a span of time from now. */
export function deadline(text: string): Date {
  const at = /^\d+(ms|s|m|h|d)$/.test(text) ? new Date(Date.now() + span(text)) : parseMoment(text);
  if (at === undefined || Number.isNaN(at.getTime())) {
    throw new InvalidArgumentError(
      "It must be a span of time from now or a time, such as 30d or 2026-01-31T12:00:00Z.",
    );
  }
  return at;
}

/** The name of a reason, in any case. */
export function reasonName(text: string): string {
  const name = text.toUpperCase();
  if (findReasonText(name) === undefined) {
    throw new InvalidArgumentError("It must be a reason, such as rate_limited or account_frozen.");
  }
  return name;
}

/** A count of tokens. */
export function tokens(text: string): bigint {
  if (!/^\d{1,15}$/.test(text)) {
    throw new InvalidArgumentError("It must be a whole number of tokens, such as 1200.");
  }
  return BigInt(text);
}

/** A TCP port. 0: the system chooses. */
export function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535) {
    throw new InvalidArgumentError("It must be a port, 0 to 65535.");
  }
  return Number(text);
}

/** A TCP port with room for the listeners after it. 0: the system chooses each. */
export function basePort(text: string): number {
  const first = port(text);
  if (first > maxBasePort) {
    throw new InvalidArgumentError(`It must be a port, 0 to ${maxBasePort}: the other listeners come after it.`);
  }
  return first;
}

/** A number that is not negative. */
export function amount(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) {
    throw new InvalidArgumentError("It must be a number that is not negative.");
  }
  return Number(text);
}

/** A span of time in milliseconds. */
export function span(text: string): number {
  const [, value, unit = ""] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (value === undefined) {
    throw new InvalidArgumentError("It must be a span of time, such as 90s, 30m, 24h or 7d.");
  }
  return Number(value) * (units[unit] ?? 0);
}

/** The beginnings of days of UTC that have names, in days from today's. */
const namedDays: Readonly<Record<string, number>> = { today: 0, yesterday: -1 };

/** A moment, as RFC 3339, as a UTC day or as the name of one. */
export function moment(text: string): Date {
  const days = namedDays[text];
  if (days !== undefined) {
    return new Date((Math.floor(Date.now() / dayMs) + days) * dayMs);
  }
  const date = parseMoment(text);
  if (date === undefined) {
    throw new InvalidArgumentError(
      "It must be a day or a time, such as yesterday, 2026-01-31 or 2026-01-31T12:00:00Z.",
    );
  }
  return date;
}

/** The URL of an inference server. Without a scheme it is http. */
export function serverUrl(text: string): string {
  const url = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url) || /^\w+:\/\/.+:\/\//.test(url)) {
    throw new InvalidArgumentError("It must be where the server listens, such as http://127.0.0.1:8000.");
  }
  return url;
}

/** The URL of a further inference server. */
export function serverUrls(text: string, before: readonly string[] = []): string[] {
  return [...before, serverUrl(text)];
}

/** The target of a core. An http URL is its host and port: gRPC has no scheme. */
export function coreTarget(text: string): string {
  if (/^https:\/\//i.test(text)) {
    throw new InvalidArgumentError("It must be host:port; TLS is spoken with --ca.");
  }
  return text.replace(/^http:\/\/([^/]+)\/?$/i, "$1");
}

/** Words separated by commas, appended to those of earlier uses of the same option. */
export function words(text: string, before: readonly string[] = []): string[] {
  const added = text.split(",").map((word) => word.trim());
  if (added.includes("")) {
    throw new InvalidArgumentError("It must be names with commas between.");
  }
  return [...before, ...added];
}
