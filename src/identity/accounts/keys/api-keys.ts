import type { FilterQuery } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import type { LimitValues } from "#lib/limits/key-limits.ts";
import type { PageStart } from "#lib/rpc/pages.ts";
import type { Clock } from "#lib/time/clock.ts";
import { ApiKey } from "#src/storage/entities/api-key.ts";
import { Budget } from "#src/storage/entities/metering/budget.ts";
import type { Announce } from "#src/storage/outbox/announcer.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { StoredDigest } from "../../digests/digest-filter.ts";
import { requireMemberRole } from "../member-role.ts";
import { requireBudget, settlePeriod } from "./key-limits.ts";
import { countByPepper, digestPage, digestsOf, keysByUse, newestKeys } from "./key-lists.ts";
import { findKey, lockAccount, moveEnd, refuseRepetition, requireRoom, requireRotatable } from "./key-rules.ts";
import { addKey, type NewKey, type Dependencies as NewKeyDependencies } from "./new-key.ts";

interface Dependencies extends NewKeyDependencies {
  readonly storage: Storage;
  readonly clock: Clock;
  /** Announces keys that are made, rotated and revoked. Absent: they are not announced. */
  readonly announce?: Announce;
  /** Called with the digest of each new key. */
  readonly added?: (digest: Uint8Array) => void;
}

/** What is said of a new key beside its limits. */
export interface NewKeyFacts {
  /** Whether it manages its account's keys. Undefined: it is for inference. */
  readonly manages?: boolean;
  /** The member who makes it. Undefined: an operator. */
  readonly personId?: string | undefined;
  /** The key or session whose budget and counters it shares. Undefined: it has its own. */
  readonly limitsOf?: string | undefined;
  /** The id of the request that makes it. Undefined or empty: none. */
  readonly requestId?: string;
  /** Whether nobody is told that it ends soon. Undefined: its account is. */
  readonly endsUntold?: boolean;
}

/** The stored keys of all accounts. Ids are UUIDs. */
export class ApiKeys {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /**
   * The key that has one of these digests, all of one secret. The first digest is by the pepper of new keys. A key
   * found by an older pepper is stored under the first digest from then on.
   */
  async find(digests: readonly [Buffer, ...Buffer[]]): Promise<ApiKey | undefined> {
    const em = this.#parts.storage.orm.em.fork();
    const key = (await em.findOne(ApiKey, { digest: { $in: [...digests] } })) ?? undefined;
    const [digest] = digests;
    if (key !== undefined && !digest.equals(key.digest)) {
      const renewed = { digest, pepperVersion: this.#parts.pepper.version };
      await em.nativeUpdate(ApiKey, { id: key.id }, renewed).catch(() => {}); // its next use tries again
    }
    return key;
  }

  /** A page of the digests of all keys, including ended ones, in the order of ids, after an id. */
  async digestsAfter(id: string): Promise<StoredDigest[]> {
    return digestsOf(this.#parts.storage, { id: { $gt: id } }, digestPage);
  }

  /** Digests of all keys of some accounts. */
  async digestsOfAccounts(accountIds: readonly string[]): Promise<StoredDigest[]> {
    return digestsOf(this.#parts.storage, { accountId: { $in: [...accountIds] } });
  }

  /** The number of live keys by the version of their digest's pepper. */
  async countByPepper(): Promise<ReadonlyMap<number, number>> {
    return countByPepper(this.#parts.storage, new Date(this.#parts.clock.now()));
  }

  /** Throws KEY_NOT_FOUND. */
  async get(id: string): Promise<ApiKey> {
    return findKey(this.#parts.storage.orm.em.fork(), id);
  }

  /** An account's keys, including expired ones, oldest first: ids sort by age. */
  async list(accountId: string, { after, limit }: PageStart, withoutRevoked = false): Promise<ApiKey[]> {
    const em = this.#parts.storage.orm.em.fork();
    const later = after === undefined ? {} : { id: { $gt: after } };
    const where = { accountId, ...later, ...(withoutRevoked && { revokedAt: null }) };
    return em.find(ApiKey, where, { orderBy: { id: "asc" }, limit });
  }

  /** An account's keys, including expired ones: those that are not revoked, then revoked ones, each newest first. */
  async listNewest(accountId: string, start: PageStart, withoutRevoked = false): Promise<ApiKey[]> {
    return newestKeys(this.#parts.storage, accountId, start, withoutRevoked);
  }

  /** The keys of all accounts, ended ones included: last used first, then those never used, newest first. */
  async listByUse(start: PageStart, withoutRevoked = false): Promise<ApiKey[]> {
    return keysByUse(this.#parts.storage, start, withoutRevoked);
  }

  /**
   * Makes a key. The request's id may be empty. Throws ACCOUNT_NOT_FOUND, KEY_ALREADY_MADE when the request was sent
   * before, KEY_LIMIT_REACHED when the account has as many live keys as it may have, PERMISSION_DENIED for a key that
   * manages others when its maker is no developer any more, and INVALID_ARGUMENT for a period without a budget.
   */
  async create(accountId: string, name: string, limits: LimitValues = {}, more: NewKeyFacts = {}): Promise<NewKey> {
    const { manages = false, personId = null, limitsOf = null, requestId = "", endsUntold = false } = more;
    requireBudget(limits, limits);
    return this.#make(async (em, now) => {
      const account = await lockAccount(em, accountId);
      await (manages && personId !== null && requireMemberRole(em, { accountId, personId }, "developer", "owner"));
      await refuseRepetition(em, accountId, requestId);
      await requireRoom(em, account, now);
      const made = addKey(em, this.#parts, now, {
        accountId,
        name,
        limits,
        manages,
        personId,
        limitsOf,
        rotatedFrom: null,
        requestId,
        endsUntold,
      });
      await this.#tell(em, "key.created", made.key);
      return made;
    });
  }

  /**
   * Makes a key that replaces another. The old key works on for the overlap, in milliseconds; without an overlap it is
   * revoked. Throws KEY_NOT_FOUND, KEY_ALREADY_MADE when the request was sent before, and KEY_STATE_CONFLICT for a key
   * that has ended or is being rotated.
   */
  async rotate(id: string, overlapMs: number, requestId = ""): Promise<NewKey> {
    return this.#make(async (em, now) => {
      const { accountId } = await findKey(em, id);
      await lockAccount(em, accountId);
      await refuseRepetition(em, accountId, requestId);
      const old = await em.refreshOrFail(await findKey(em, id));
      const before = overlapMs > 0 && old.rotatedFrom ? await em.findOne(ApiKey, old.rotatedFrom) : null;
      requireRotatable(old, before, now);
      const { name, limits, manages, personId = null, limitsOf = null } = old;
      const shared = { limitsOf: limitsOf ?? id, rotatedFrom: id };
      const facts = { accountId, name, limits, manages, personId, ...shared, requestId };
      const made = addKey(em, this.#parts, now, facts);
      const end = new Date(now.getTime() + overlapMs);
      if (!limits.expiresAt || end < limits.expiresAt) {
        limits.expiresAt = end;
      }
      if (overlapMs === 0) {
        old.revokedAt = now; // not only by its expiry: a core whose clock is behind would let it work on
      }
      old.rotatedTo = made.key.id;
      old.warnAt = null;
      await this.#tell(em, "key.rotated", made.key);
      return made;
    });
  }

  /** Ends a key. A key that was revoked before stays as it is. Throws KEY_NOT_FOUND. */
  async revoke(id: string): Promise<ApiKey> {
    return this.#change(async (em, now) => {
      await lockAccount(em, (await findKey(em, id)).accountId);
      const key = await em.refreshOrFail(await findKey(em, id));
      if (!key.revokedAt) {
        key.revokedAt = now;
        key.warnAt = null;
        await this.#tell(em, "key.revoked", key);
      }
      return key;
    });
  }

  /** Ends those of some keys that were not revoked before, in a transaction that has locked their account. */
  async revokeWithin(em: SqlEntityManager, where: FilterQuery<ApiKey>): Promise<void> {
    const now = new Date(this.#parts.clock.now());
    for (const key of await em.find(ApiKey, { $and: [where, { revokedAt: null }] })) {
      key.revokedAt = now;
      key.warnAt = null;
      await this.#tell(em, "key.revoked", key);
    }
  }

  /**
   * Changes a key's label or limits, disables or enables it; null lifts a limit. Throws KEY_NOT_FOUND,
   * KEY_STATE_CONFLICT for the expiry of a key that has been rotated, KEY_LIMIT_REACHED when an expired key is to live
   * again and the account has no room for it, and INVALID_ARGUMENT for a period without a budget.
   */
  async update(
    id: string,
    limits: LimitValues,
    { name, disabled }: { readonly name?: string | undefined; readonly disabled?: boolean | undefined } = {},
  ): Promise<ApiKey> {
    return this.#change(async (em, now) => {
      const account = await lockAccount(em, (await findKey(em, id)).accountId);
      const key = await em.refreshOrFail(await findKey(em, id));
      if (limits.expiresAt !== undefined) {
        await moveEnd(em, account, key, limits.expiresAt, now);
      }
      key.name = name ?? key.name;
      key.disabled = disabled ?? key.disabled;
      key.updatedAt = now;
      Object.assign(key.limits, limits);
      requireBudget(limits, key.limits);
      key.limits.budgetPeriod = settlePeriod(key.limits);
      if (limits.budgetPicoUsd !== undefined || limits.budgetPeriod !== undefined) {
        await shareBudget(em, key);
      }
      return key;
    });
  }

  /** Stores when keys were last used. */
  async storeLastUsed(ids: readonly string[], at: Date): Promise<void> {
    const older = { id: { $in: [...ids] }, $or: [{ lastUsedAt: null }, { lastUsedAt: { $lt: at } }] };
    await inTransaction(this.#parts.storage, (em) => em.nativeUpdate(ApiKey, older, { lastUsedAt: at }));
  }

  /** Announces a key in the transaction that changes it. */
  async #tell(em: SqlEntityManager, type: "key.created" | "key.rotated" | "key.revoked", key: ApiKey): Promise<void> {
    await em.flush();
    const from = type === "key.rotated" ? { rotated_from: key.rotatedFrom ?? null } : {};
    await this.#parts.announce?.(em, {
      type,
      accountId: key.accountId,
      data: { key_id: key.id, name: key.name, prefix: key.prefix, last4: key.last4, ...from },
    });
  }

  async #make(change: (em: SqlEntityManager, now: Date) => Promise<NewKey>): Promise<NewKey> {
    const made = await this.#change(change);
    this.#parts.added?.(made.key.digest);
    return made;
  }

  #change<T>(change: (em: SqlEntityManager, now: Date) => Promise<T>): Promise<T> {
    const now = new Date(this.#parts.clock.now());
    return inTransaction(this.#parts.storage, (em) => change(em, now));
  }
}

/** Copies the budget of a changed key to all keys of its chain, which share it. */
async function shareBudget(em: SqlEntityManager, key: ApiKey): Promise<void> {
  await em.flush();
  const { id, accountId, limitsOf } = key;
  const { budgetPicoUsd = null, budgetPeriod = null } = key.limits;
  const budgetId = limitsOf ?? id;
  // All keys of a chain are of one account, so the query reads only that account's keys.
  const sharing = { accountId, $or: [{ id: budgetId }, { limitsOf: budgetId }] };
  await em.nativeUpdate(ApiKey, sharing, { limits: { budgetPicoUsd, budgetPeriod } });
  // Money spent without the limit, or in windows of another period, is counted at the budget's next lease.
  await em.nativeUpdate(Budget, { id: budgetId }, { leasedUnder: 0, announcedPercent: 0 });
}
