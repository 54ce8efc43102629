import type { FilterQuery } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { PageStart } from "../../../lib/rpc/pages.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { Announce } from "../../events/announcer.ts";
import { ApiKey } from "../../storage/entities/api-key.ts";
import { Budget } from "../../storage/entities/metering/budget.ts";
import type { Storage } from "../../storage/orm.ts";
import { inTransaction } from "../../storage/transaction.ts";
import type { KeyDigest } from "./key-filter.ts";
import { type KeyLimits, requireBudget, settlePeriod } from "./key-limits.ts";
import { findKey, lockAccount, refuseRepetition, requireRoom, requireRotatable } from "./key-rules.ts";
import { addKey, type NewKey, type NewKeyOptions } from "./new-key.ts";

/** Keys of one page of digests. */
const digestPage = 10_000;

/** Dependencies. */
export interface ApiKeysOptions extends NewKeyOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  /** Is told of keys that are made, rotated and revoked. Absent: nobody is. */
  readonly announce?: Announce;
  /** Is told the digest of each key that was made. */
  readonly added?: (digest: Uint8Array) => void;
}

/** Keys of accounts in one database or in several. */
export type KeyList = Pick<ApiKeys, "get" | "list" | "create" | "rotate" | "revoke" | "update" | "storeLastUsed">;

/** The keys of all accounts, as they are stored. Ids are UUIDs. */
export class ApiKeys {
  readonly #options: ApiKeysOptions;

  constructor(options: ApiKeysOptions) {
    this.#options = options;
  }

  /**
   * The key that has one of these digests, all of one secret. The first is by the pepper of new keys; a key that is
   * found by an older one has that as its digest from then on.
   */
  async find(digests: readonly [Buffer, ...Buffer[]]): Promise<ApiKey | undefined> {
    const em = this.#options.storage.orm.em.fork();
    const key = (await em.findOne(ApiKey, { digest: { $in: [...digests] } })) ?? undefined;
    const [digest] = digests;
    if (key !== undefined && !digest.equals(key.digest)) {
      const renewed = { digest, pepperVersion: this.#options.pepper.version };
      await em.nativeUpdate(ApiKey, { id: key.id }, renewed).catch(() => {}); // its next use tries again
    }
    return key;
  }

  /** Digests of all keys, ended ones included, by id: the next ones behind an id. */
  async digestsAfter(id: string): Promise<KeyDigest[]> {
    return this.#digests({ id: { $gt: id } }, digestPage);
  }

  /** Digests of all keys of some accounts. */
  async digestsOfAccounts(accountIds: readonly string[]): Promise<KeyDigest[]> {
    return this.#digests({ accountId: { $in: [...accountIds] } });
  }

  async #digests(where: FilterQuery<ApiKey>, limit?: number): Promise<KeyDigest[]> {
    const em = this.#options.storage.orm.em.fork();
    return em.find(ApiKey, where, {
      fields: ["id", "digest"],
      orderBy: { id: "asc" },
      disableIdentityMap: true,
      ...(limit !== undefined && { limit }),
    });
  }

  /** How many keys that may still be used have digests by each pepper, by its version. */
  async countByPepper(): Promise<ReadonlyMap<number, number>> {
    const now = new Date(this.#options.clock.now());
    const live = { revokedAt: null, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
    const counts = new Map<number, number>();
    const em = this.#options.storage.orm.em.fork();
    const versions = await em.createQueryBuilder(ApiKey, "key").select("key.pepperVersion", true).where(live).execute();
    for (const { pepperVersion } of versions as { pepperVersion: number }[]) {
      counts.set(pepperVersion, await em.count(ApiKey, { ...live, pepperVersion }));
    }
    return counts;
  }

  /** Throws KEY_NOT_FOUND. */
  async get(id: string): Promise<ApiKey> {
    return findKey(this.#options.storage.orm.em.fork(), id);
  }

  /** An account's keys, ended ones included, oldest first: ids sort by age. */
  async list(accountId: string, { after, limit }: PageStart): Promise<ApiKey[]> {
    const em = this.#options.storage.orm.em.fork();
    const where = { accountId, ...(after === undefined ? {} : { id: { $gt: after } }) };
    return em.find(ApiKey, where, { orderBy: { id: "asc" }, limit });
  }

  /**
   * Makes a key. The request's id may be empty. Throws ACCOUNT_NOT_FOUND, KEY_ALREADY_MADE when the request was sent
   * before, KEY_LIMIT_REACHED when the account has as many live keys as it may have, and INVALID_ARGUMENT for a period
   * of no budget.
   */
  async create(accountId: string, name: string, limits: Partial<KeyLimits> = {}, requestId = ""): Promise<NewKey> {
    requireBudget(limits, limits.budget);
    return this.#make(async (em, now) => {
      const account = await lockAccount(em, accountId);
      await refuseRepetition(em, accountId, requestId);
      await requireRoom(em, account, now);
      const made = addKey(em, this.#options, now, { ...limits, accountId, name, rotatedFrom: null, requestId });
      await this.#tell(em, "key.created", made.key);
      return made;
    });
  }

  /**
   * Makes a key that takes another's place; the old one works on for the overlap in milliseconds, and is revoked where that is 0.
   * Throws KEY_NOT_FOUND, KEY_ALREADY_MADE when the request was sent before, and KEY_STATE_CONFLICT for a key that has
   * ended or is being rotated.
   */
  async rotate(id: string, overlapMs: number, requestId = ""): Promise<NewKey> {
    return this.#make(async (em, now) => {
      const { accountId } = await findKey(em, id);
      await lockAccount(em, accountId);
      await refuseRepetition(em, accountId, requestId);
      const old = await em.refreshOrFail(await findKey(em, id));
      const before = overlapMs > 0 && old.rotatedFrom ? await em.findOne(ApiKey, old.rotatedFrom) : null;
      requireRotatable(old, before, now);
      const { name, rpm, models, expiresAt, tokensPerMinute, maxInFlight, serviceClass, budget, budgetPeriod } = old;
      const limits = { rpm, models, expiresAt, tokensPerMinute, maxInFlight, serviceClass, budget, budgetPeriod };
      const limitsOf = old.limitsOf ?? old.id;
      const made = addKey(em, this.#options, now, { ...limits, limitsOf, accountId, name, rotatedFrom: id, requestId });
      const end = new Date(now.getTime() + overlapMs);
      if (!old.expiresAt || end < old.expiresAt) {
        old.expiresAt = end;
      }
      if (overlapMs === 0) {
        old.revokedAt = now; // not by a time alone: a core whose clock is behind would let it work on
      }
      old.rotatedTo = made.key.id;
      await this.#tell(em, "key.rotated", made.key);
      return made;
    });
  }

  /** Ends a key; one that has been revoked before stays as it is. Throws KEY_NOT_FOUND. */
  async revoke(id: string): Promise<ApiKey> {
    return this.#change(async (em, now) => {
      await lockAccount(em, (await findKey(em, id)).accountId);
      const key = await em.refreshOrFail(await findKey(em, id));
      if (!key.revokedAt) {
        key.revokedAt = now;
        await this.#tell(em, "key.revoked", key);
      }
      return key;
    });
  }

  /**
   * Changes a key's label or limits; null lifts one. Throws KEY_NOT_FOUND, KEY_STATE_CONFLICT for the expiry of a key
   * that has been rotated, KEY_LIMIT_REACHED when an expired key is to live again and the account has no room for it, and
   * INVALID_ARGUMENT for a period of no budget.
   */
  async update(id: string, facts: Partial<KeyLimits & Pick<ApiKey, "name">>): Promise<ApiKey> {
    return this.#change(async (em, now) => {
      const account = await lockAccount(em, (await findKey(em, id)).accountId);
      const key = await em.refreshOrFail(await findKey(em, id));
      if (facts.expiresAt !== undefined) {
        if (key.rotatedTo) {
          throw failure(Reason.KEY_STATE_CONFLICT, `The key has been rotated: ${key.rotatedTo} takes its place.`);
        }
        if (key.expiresAt && key.expiresAt <= now && !key.revokedAt) {
          await requireRoom(em, account, now);
        }
      }
      Object.assign(key, facts);
      requireBudget(facts, key.budget);
      key.budgetPeriod = settlePeriod(key);
      if (facts.budget !== undefined || facts.budgetPeriod !== undefined) {
        await shareBudget(em, key);
      }
      return key;
    });
  }

  /** Writes when keys were last used. */
  async storeLastUsed(ids: readonly string[], at: Date): Promise<void> {
    const older = { id: { $in: [...ids] }, $or: [{ lastUsedAt: null }, { lastUsedAt: { $lt: at } }] };
    await inTransaction(this.#options.storage, (em) => em.nativeUpdate(ApiKey, older, { lastUsedAt: at }));
  }

  /** Tells of a key in the transaction that changes it. */
  async #tell(em: SqlEntityManager, type: "key.created" | "key.rotated" | "key.revoked", key: ApiKey): Promise<void> {
    await em.flush();
    const from = type === "key.rotated" ? { rotated_from: key.rotatedFrom ?? null } : {};
    await this.#options.announce?.(em, {
      type,
      accountId: key.accountId,
      data: { key_id: key.id, name: key.name, prefix: key.prefix, last4: key.last4, ...from },
    });
  }

  async #make(change: (em: SqlEntityManager, now: Date) => Promise<NewKey>): Promise<NewKey> {
    const made = await this.#change(change);
    this.#options.added?.(made.key.digest);
    return made;
  }

  #change<T>(change: (em: SqlEntityManager, now: Date) => Promise<T>): Promise<T> {
    const now = new Date(this.#options.clock.now());
    return inTransaction(this.#options.storage, (em) => change(em, now));
  }
}

/** Gives the limit of a key that was changed to all of its chain: they have one budget while they work. */
async function shareBudget(em: SqlEntityManager, key: ApiKey): Promise<void> {
  await em.flush();
  const { id, accountId, limitsOf, budget = null, budgetPeriod = null } = key;
  const budgetId = limitsOf ?? id;
  // They are of one account, by which they are found without a look at everybody's.
  const sharing = { accountId, $or: [{ id: budgetId }, { limitsOf: budgetId }] };
  await em.nativeUpdate(ApiKey, sharing, { budget, budgetPeriod });
  // Money spent without the limit, or in windows of another period, is counted at the budget's next lease.
  await em.nativeUpdate(Budget, { id: budgetId }, { bound: 0, told: 0 });
}
