import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Pepper } from "#lib/ids/pepper.ts";
import type { Random } from "#lib/ids/random.ts";
import { type LimitValues, noLimits } from "#lib/limits/key-limits.ts";
import { ApiKey } from "#src/storage/entities/api-key.ts";
import { newApiKey, toDigest, toHints } from "./api-key.ts";
import { settlePeriod } from "./key-limits.ts";
import { toWarnAt } from "./key-rules.ts";

/** The settings for making keys. */
export interface Dependencies {
  readonly random: Random;
  /** The beginning of every new key, such as "tg-". */
  readonly prefix: string;
  /** Makes the digests of new keys. */
  readonly pepper: Pepper;
}

/** A key just made. The secret is stored nowhere. */
export interface NewKey {
  readonly key: ApiKey;
  readonly secret: string;
}

/** The properties of a new key. */
export interface KeyFacts extends Pick<ApiKey, "accountId" | "name" | "rotatedFrom"> {
  readonly limits: LimitValues;
  /** Undefined: it is for inference. */
  readonly manages?: boolean;
  /** The member who makes it. Undefined or null: an operator. */
  readonly personId?: string | null;
  /** The key whose budget and counters it shares. Undefined or null: it has its own. */
  readonly limitsOf?: string | null;
  /** Empty: none. */
  readonly requestId: string;
  /** Whether nobody is told that it ends soon. Undefined: its account is. */
  readonly endsUntold?: boolean;
}

/** Makes a key with a new secret. Call it in the transaction that stores it. */
export function addKey(
  em: SqlEntityManager,
  { random, prefix, pepper }: Dependencies,
  now: Date,
  { endsUntold = false, ...facts }: KeyFacts,
): NewKey {
  const secret = newApiKey(prefix, random);
  const key = em.create(ApiKey, {
    id: random.uuid(),
    limitsOf: null,
    manages: false,
    personId: null,
    ...facts,
    limits: { ...noLimits, ...facts.limits, budgetPeriod: settlePeriod(facts.limits) },
    requestId: facts.requestId || null,
    ...toHints(secret),
    digest: toDigest(secret, pepper),
    pepperVersion: pepper.version,
    disabled: false,
    updatedAt: null,
    warnAt: endsUntold ? null : toWarnAt(facts.limits.expiresAt, now),
    createdAt: now,
    revokedAt: null,
    lastUsedAt: null,
    rotatedTo: null,
  });
  em.persist(key);
  return { key, secret };
}
