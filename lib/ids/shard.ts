import type { Random } from "./random.ts";

// Accounts may be spread over several databases, called shards, numbered from 0. Ids and keys of accounts name their
// shard, so that it is found without a look-up. Those of shard 0 have no mark: they look like those of a service with
// one database.

/** The highest number of a shard: it fits three hexadecimal digits of an id, and two letters or digits of a key. */
export const lastShard = 999;

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** No key of 256 random bits in 43 letters and digits begins with this character: the highest begins with yhjs…. */
const keyMark = "z";
const keyMarkCode = keyMark.charCodeAt(0);
const keyMarkLength = 3;
/** The number of characters of a secret after its prefix. */
const secretLength = 49;
const markedVersion = "8".charCodeAt(0);
/** The position of a UUID's version. */
const uuidVersion = 14;
/** The position of the version in a request's id: after `req_`, without dashes. */
const requestVersion = 16;
const requestPattern = /^req_[0-9a-f]{12}8([0-9a-f]{3})[89ab][0-9a-f]{15}$/;

/**
 * Marks a UUIDv7 with a shard: the result is a UUIDv8 with the shard's number after its version. The time stays where
 * it is, so ids still sort by creation time.
 */
export function markId(uuid: string, shard: number): string {
  return shard === 0 ? uuid : `${uuid.slice(0, uuidVersion)}8${toHex(shard)}${uuid.slice(uuidVersion + 4)}`;
}

/** The shard of a UUID. */
export function readIdShard(uuid: string): number {
  return uuid.charCodeAt(uuidVersion) === markedVersion ? readHex(uuid.slice(uuidVersion + 1, uuidVersion + 4)) : 0;
}

/** The shard of a request's id. A caller's own id has none, and counts as shard 0. */
export function readRequestShard(requestId: string): number {
  if (requestId.charCodeAt(requestVersion) !== markedVersion) {
    return 0;
  }
  const [, shard] = requestPattern.exec(requestId) ?? [];
  return shard === undefined ? 0 : readHex(shard);
}

/** The characters that a key's secret begins with to mark its shard. Empty: shard 0. */
export function keyMarkOf(shard: number): string {
  return shard === 0 ? "" : `${keyMark}${digits[Math.floor(shard / 62)]}${digits[shard % 62]}`;
}

/** The shard of an API key, which may follow `Bearer `. Any other text counts as shard 0. */
export function readKeyShard(credential: string): number {
  const at = credential.indexOf("-") + 1;
  if (credential.charCodeAt(at) !== keyMarkCode || at === 0 || credential.length - at !== secretLength) {
    return 0;
  }
  const [high = 0, low = 0] = [...credential.slice(at + 1, at + keyMarkLength)].map((digit) => digits.indexOf(digit));
  const shard = high * 62 + low;
  return shard > 0 && shard <= lastShard ? shard : 0;
}

/** Randomness whose ids name a shard. */
export function markRandom(random: Random, shard: number): Random {
  return shard === 0 ? random : { ...random, uuid: () => markId(random.uuid(), shard) };
}

function toHex(shard: number): string {
  return shard.toString(16).padStart(3, "0");
}

/** 0 for a text that is no number. */
function readHex(text: string): number {
  return Number.parseInt(text, 16) || 0;
}
