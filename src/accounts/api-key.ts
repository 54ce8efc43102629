import { createHmac } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Random } from "../../lib/ids/random.ts";
import type { Pepper } from "../config/secrets.ts";

// A key reads <prefix><43 letters and digits: 256 random bits><6 more: CRC-32 of what stands before>.
// The checksum tells typing mistakes and guesses from keys without asking the database. Scanners for
// leaked secrets find keys by /\b[a-z0-9]{1,12}-[0-9A-Za-z]{49}\b/ and that checksum.

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretBytes = 32;
const secretLength = 43;
const checksumLength = 6;
const shape = /^[a-z0-9]{1,12}-[0-9A-Za-z]{49}$/;

/** Makes a key. The prefix ends in a dash. */
export function newApiKey(prefix: string, random: Random): string {
  const secret = BigInt(`0x${Buffer.from(random.bytes(secretBytes)).toString("hex")}`);
  const body = prefix + base62(secret, secretLength);
  return body + checksum(body);
}

/** Whether a text can be a key at all. Any prefix will do: keys outlive a change of the configured one. */
export function isApiKey(text: string): boolean {
  return shape.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** What is stored in place of a key: HMAC-SHA256 with the pepper, 32 bytes. */
export function digestOf(key: string, pepper: Pepper): Buffer {
  return createHmac("sha256", pepper.secret).update(key).digest();
}

/** The parts of a key that may be shown: its prefix and first four characters, and its last four. */
export function hintsOf(key: string): { readonly prefix: string; readonly last4: string } {
  return { prefix: key.slice(0, key.indexOf("-") + 5), last4: key.slice(-4) };
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), checksumLength);
}

function base62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest /= 62n) {
    text = digits[Number(rest % 62n)] + text;
  }
  return text;
}
