import { LockMode } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { Account } from "#src/storage/entities/account.ts";
import { ApiKey } from "#src/storage/entities/api-key.ts";

/** The end of a key is told this long ahead, unless it was given less than ten times as long. */
const warnMs = 7 * 86_400_000;

/** Refuses a request that has made a key before, so that a repetition does not make a second key. */
export async function refuseRepetition(em: SqlEntityManager, accountId: string, requestId: string): Promise<void> {
  if (requestId === "") {
    return;
  }
  const made = await em.findOne(ApiKey, { accountId, requestId });
  if (made === null) {
    return;
  }
  throw failure(
    Reason.KEY_ALREADY_MADE,
    `This request has made the key ${made.id}, whose secret was shown then and is not stored. If it did not arrive, revoke that key and make another by a request with an id of its own.`,
    { made: made.id },
  );
}

/**
 * Throws KEY_STATE_CONFLICT for a key that has ended or is being rotated, and when the new key would overlap with both
 * this key and `before`, which this key replaced. Null: it replaced none, or nothing overlaps.
 */
export function requireRotatable(key: ApiKey, before: ApiKey | null, now: Date): void {
  const refuse = (message: string) => failure(Reason.KEY_STATE_CONFLICT, message);
  if (key.revokedAt) {
    throw refuse("The key has been revoked.");
  }
  if (key.rotatedTo) {
    throw refuse(`The key has already been rotated: ${key.rotatedTo} takes its place.`);
  }
  if (hasExpired(key, now)) {
    throw refuse("The key has expired.");
  }
  if (before?.limits.expiresAt && !hasExpired(before, now) && !before.revokedAt) {
    throw refuse(`The key ${before.id}, whose place this one takes, has not run out: revoke it first.`);
  }
}

/** Whether a key has expired, revoked or not. */
export function hasExpired({ limits }: ApiKey, now: Date): boolean {
  return Boolean(limits.expiresAt && limits.expiresAt <= now);
}

/** When the end of a key is told: 7 days ahead, or a tenth of the time that it was given if that is less. Null: never. */
export function toWarnAt(expiresAt: Date | null | undefined, now: Date): Date | null {
  if (!expiresAt) {
    return null;
  }
  const ahead = Math.min(warnMs, (expiresAt.getTime() - now.getTime()) / 10);
  return new Date(Math.round(expiresAt.getTime() - ahead));
}

/**
 * Gives a key another end, in a transaction that has locked its account; null lifts it. Throws KEY_STATE_CONFLICT for a key that
 * has been rotated, and KEY_LIMIT_REACHED when an expired key is to live again and the account has no room for it.
 */
export async function moveEnd(
  em: SqlEntityManager,
  account: Account,
  key: ApiKey,
  expiresAt: Date | null,
  now: Date,
): Promise<void> {
  if (key.rotatedTo) {
    throw failure(Reason.KEY_STATE_CONFLICT, `The key has been rotated: ${key.rotatedTo} takes its place.`);
  }
  if (hasExpired(key, now) && !key.revokedAt) {
    await requireRoom(em, account, now);
  }
  if (expiresAt?.getTime() !== key.limits.expiresAt?.getTime()) {
    key.limits.expiresAt = expiresAt;
    key.warnAt = toWarnAt(expiresAt, now);
  }
}

/** Condition for a live key: neither revoked nor expired at the time of a parameter. */
export const isLive = (key: string): string =>
  `${key}.revoked_at is null and (${key}.expires_at is null or ${key}.expires_at > ?)`;

/**
 * Throws KEY_LIMIT_REACHED when a locked account has as many live keys as it may have. A replaced key does not count
 * while it runs out beside a live successor.
 */
export async function requireRoom(em: SqlEntityManager, { id, maxKeys }: Account, now: Date): Promise<void> {
  const [found] = await em.execute<{ live: string | number }[]>(
    `select count(*) as live from api_key one where account_id = ? and ${isLive("one")}
     and not exists (select 1 from api_key successor where successor.id = one.rotated_to and ${isLive("successor")})`,
    [id, now, now],
  );
  const live = Number(found?.live);
  if (live >= maxKeys) {
    throw failure(Reason.KEY_LIMIT_REACHED, `The account may have at most ${maxKeys} live keys.`, {
      bound: { case: "keys", value: { limit: maxKeys, actual: live } },
    });
  }
}

/** Makes changes to one account's keys wait for each other. SQLite has a single writer anyway. */
export async function lockAccount(em: SqlEntityManager, id: string): Promise<Account> {
  const account = await em.findOne(Account, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!account) {
    throw failure(Reason.ACCOUNT_NOT_FOUND, "There is no such account.");
  }
  return account;
}

/** Throws KEY_NOT_FOUND. */
export async function findKey(em: SqlEntityManager, id: string): Promise<ApiKey> {
  const key = await em.findOne(ApiKey, id);
  if (!key) {
    throw failure(Reason.KEY_NOT_FOUND, "There is no such key.");
  }
  return key;
}
