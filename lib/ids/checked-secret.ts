import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Random } from "./random.ts";

// A secret reads <prefix><43 letters and digits: 256 random bits><6 more: CRC-32 of everything before>. The checksum
// tells typing mistakes and guesses from secrets without asking the database.

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretBytes = 32;
const secretLength = 43;
const checksumLength = 6;

/** Makes a secret with a prefix of 32 bytes. */
export function newCheckedSecret(prefix: string, random: Pick<Random, "bytes">): string {
  const secret = BigInt(`0x${Buffer.from(random.bytes(secretBytes)).toString("hex")}`);
  const body = prefix + base62(secret, secretLength);
  return body + checksum(body);
}

/** Whether a text ends with the checksum of everything before it. */
export function isChecked(text: string): boolean {
  return checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** The digest that is stored in place of a secret, 32 bytes. A plain one is enough: nobody guesses 256 random bits. */
export function toDigest(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

/** Computed with numbers rather than BigInts, because it is checked at each request. */
function checksum(text: string): string {
  let sum = "";
  for (let rest = crc32(text); sum.length < checksumLength; rest = Math.floor(rest / 62)) {
    sum = digits[rest % 62] + sum;
  }
  return sum;
}

function base62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest /= 62n) {
    text = digits[Number(rest % 62n)] + text;
  }
  return text;
}
