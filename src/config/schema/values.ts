import * as z from "zod";
import { maxPicoUsd, maxRate, parseRate, parseUsd } from "#lib/money/money.ts";
import { bareHost, isLoopback, parseAddress } from "#lib/net/address.ts";
import { parseNetwork } from "#lib/net/networks.ts";
import { isPrintable, isSeen } from "#lib/text/printable.ts";

/** An amount of USD. Coerced, so that it may be written without quotes: load.ts passes it as it is written. */
export const usd = z.coerce.string().refine((text) => (parseUsd(text) ?? maxPicoUsd) < maxPicoUsd, {
  message:
    'must be a decimal amount of USD from "0" to "9007" with at most 12 decimals, best in quotes, such as "1.00"',
});

/** A sum over many payments, each of which has its own bound. */
export const usdTotal = z.coerce.string().refine((text) => parseUsd(text) !== undefined, {
  message: 'must be a decimal amount of USD with at most 12 decimals, best in quotes, such as "20000"',
});

/** USD per 1M tokens. */
export const rate = z.coerce.string().refine((text) => (parseRate(text) ?? maxRate + 1n) <= maxRate, {
  message: 'must be USD per 1M tokens from "0" to "1000" with at most 6 decimals, best in quotes, such as "0.20"',
});

/** The address of a listener. */
export const address = z
  .string()
  .refine((text) => parseAddress(text) !== undefined, "must be host:port, such as 127.0.0.1:8080 or [::1]:8080");

/** An address or a network. */
export const network = z
  .string()
  .refine(
    (text) => parseNetwork(text) !== undefined,
    "must be an address or a network, such as 10.0.0.5 or 10.0.0.0/8 or 2001:db8::/32",
  );

/** A name that is used in answers, headers, logs and databases. */
export const plainName = z
  .string()
  .refine((text) => text === "" || (text.isWellFormed() && isPrintable(text) && isSeen(text)), {
    message: "must be seen as it is: without control characters, line ends and changes of the writing direction",
  });

/** Seconds, at most a day. */
export const seconds = z.number().positive().max(86_400);

/** Requests a minute. */
export const rpm = z.int().positive().max(10_000_000);

/** The ways of choosing a server. */
export const routing = z.enum(["prefix", "least-load", "round-robin"]);

/** Whether a text is an address whose traffic nobody reads on its way: https, or http on this machine. */
export function isSecureWeb(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(bareHost(url.hostname)));
}

/** Whether it is such an address of a host and of nothing in it. */
export function isSecureHost(text: string): boolean {
  const url = URL.parse(text);
  return isSecureWeb(text) && url?.pathname === "/" && url.search === "" && url.username === "";
}

/** Refuses entries of a list that have the same name. */
export function refuseRepeats<K extends string>(
  all: readonly Record<K, string>[],
  field: K,
  context: z.core.$RefinementCtx,
) {
  const values = all.map((one) => one[field]);
  values.forEach((value, index) => {
    const first = values.indexOf(value);
    if (first < index) {
      context.addIssue({
        code: "custom",
        path: [index, field],
        message: `${value} is already taken by entry ${first + 1}`,
      });
    }
  });
}
