import { createHmac, hash } from "node:crypto";
import { isChecked, newCheckedSecret } from "#lib/ids/checked-secret.ts";
import type { Random } from "#lib/ids/random.ts";

const sessionPrefix = "tgse_";
const cookiePrefix = "tgco_";
const linkPrefix = "tgli_";
const shape = /^tg(se|co|li)_[0-9A-Za-z]{49}$/;

/** Makes the token of a session. */
export function newSessionToken(random: Random): string {
  return newCheckedSecret(sessionPrefix, random);
}

/**
 * The form in which a browser keeps a session. Browsers hand a cookie to every port of a host; whoever reads it there cannot
 * make the token from it, and it is no bearer.
 */
export function toCookie(token: string, operatorToken: string): string {
  const bytes = () => createHmac("sha256", operatorToken).update(token).digest();
  return newCheckedSecret(cookiePrefix, { bytes });
}

/** Makes the token of a sign-in link. */
export function newLinkToken(random: Random): string {
  return newCheckedSecret(linkPrefix, random);
}

/** Whether a text can be the token of a session at all. */
export function isSessionToken(text: string): boolean {
  return text.startsWith(sessionPrefix) && shape.test(text) && isChecked(text);
}

/** Whether a text can be the cookie of a session at all. */
export function isSessionCookie(text: string): boolean {
  return text.startsWith(cookiePrefix) && shape.test(text) && isChecked(text);
}

/** Whether a text can be the token of a sign-in link at all. */
export function isLinkToken(text: string): boolean {
  return text.startsWith(linkPrefix) && shape.test(text) && isChecked(text);
}

/**
 * The digest that is stored in place of a token, 32 bytes. It is bound to the configured operator token, so that
 * replacing that token ends every session and link.
 */
export function toDigest(token: string, operatorToken: string): Buffer {
  return hash("sha256", `${token}\n${operatorToken}`, "buffer");
}
