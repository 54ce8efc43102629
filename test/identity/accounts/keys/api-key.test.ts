import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { systemRandom } from "#lib/ids/random.ts";
import { isApiKey, newApiKey, toDigest, toHints } from "#src/identity/accounts/keys/api-key.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

test("a key is its prefix, 256 random bits and a checksum", () => {
  const zero = newApiKey("tg-", { ...systemRandom, bytes: (length) => new Uint8Array(length) });
  expect(zero).toMatch(/^tg-0{43}[0-9A-Za-z]{6}$/);
  const most = newApiKey("tg-", { ...systemRandom, bytes: (length) => new Uint8Array(length).fill(255) });
  expect(most).toMatch(/^tg-[0-9A-Za-z]{49}$/);
  expect(isApiKey(zero) && isApiKey(most)).toBe(true);
  expect(new Set(Array.from({ length: 100 }, () => newApiKey("tg-", systemRandom))).size).toBe(100);
});

test("no single wrong character passes", () => {
  const key = newApiKey("tg-", systemRandom);
  fc.assert(
    fc.property(fc.nat(key.length - 4), fc.constantFrom(...alphabet), (position, character) => {
      const at = position + 3;
      const wrong = key.slice(0, at) + character + key.slice(at + 1);
      expect(isApiKey(wrong)).toBe(wrong === key);
    }),
  );
});

test.each(["", "tg-", "sk-proj-abc", "Bearer x", `tg-${"0".repeat(49)}`, `tg-${"0".repeat(50)}`, "é".repeat(52)])(
  "%j is not a key",
  (text) => {
    expect(isApiKey(text)).toBe(false);
  },
);

test("a lost or swapped character does not pass", () => {
  const key = newApiKey("tg-", systemRandom);
  expect(isApiKey(key.slice(0, -1))).toBe(false);
  expect(isApiKey(`${key} `)).toBe(false);
  expect(isApiKey(`xx${key.slice(2)}`)).toBe(false);
});

test("the digest depends on key and pepper", () => {
  const key = newApiKey("tg-", systemRandom);
  const digest = toDigest(key, { version: 1, secret: "a" });
  expect(digest).toHaveLength(32);
  expect(toDigest(key, { version: 1, secret: "a" })).toEqual(digest);
  expect(toDigest(key, { version: 1, secret: "b" })).not.toEqual(digest);
  expect(toDigest(newApiKey("tg-", systemRandom), { version: 1, secret: "a" })).not.toEqual(digest);
});

test("what may be shown tells too little to guess the rest", () => {
  const key = newApiKey("tg-", systemRandom);
  const hints = toHints(key);
  expect(hints).toEqual({ prefix: key.slice(0, 7), last4: key.slice(-4) });
});
