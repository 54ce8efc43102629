import { createHmac } from "node:crypto";
import { isChecked, newCheckedSecret } from "#lib/ids/checked-secret.ts";
import type { Pepper } from "#lib/ids/pepper.ts";
import type { Random } from "#lib/ids/random.ts";

// Scanners for leaked secrets find keys by this shape, without its anchors, and by their checksum.
const shape = /^[a-z0-9]{1,12}-[0-9A-Za-z]{49}$/;

/** Makes a key. The prefix ends in a dash. */
export function newApiKey(prefix: string, random: Random): string {
  return newCheckedSecret(prefix, random);
}

/** Whether a text can be a key at all. Any prefix is accepted: keys outlive a change of the configured prefix. */
export function isApiKey(text: string): boolean {
  return shape.test(text) && isChecked(text);
}

/** The digest that is stored in place of a key: HMAC-SHA256 with the pepper, 32 bytes. */
export function toDigest(key: string, pepper: Pepper): Buffer {
  return createHmac("sha256", pepper.secret).update(key).digest();
}

/** The parts of a key that may be shown: its prefix and first four characters, and its last four. */
export function toHints(key: string): { readonly prefix: string; readonly last4: string } {
  return { prefix: key.slice(0, key.indexOf("-") + 5), last4: key.slice(-4) };
}
