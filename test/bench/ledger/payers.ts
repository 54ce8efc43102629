import type { Random } from "#lib/ids/random.ts";
import { noLimits } from "#lib/limits/key-limits.ts";
import { toBudget } from "#src/identity/accounts/keys/key-budget.ts";
import type { HoldRequest } from "#src/money/model/ledger.ts";
import { ApiKey } from "#src/storage/entities/api-key.ts";
import type { Storage } from "#src/storage/storage.ts";

/** Who pays for a request. */
export type Payer = Pick<HoldRequest, "accountId" | "keyId" | "budget">;

const rows = 500;
/** 100 USD: more than a load spends. */
const budget = 1e14;

/** An account of its own money alone, without a key. */
export const toPayer = (accountId: string): Payer => ({ accountId, keyId: "" });

/** Makes a key for each account, with a budget a day and a month in turn. */
export async function createKeys(storage: Storage, random: Random, accounts: readonly string[]): Promise<Payer[]> {
  const payers: Payer[] = [];
  for (let from = 0; from < accounts.length; from += rows) {
    const keys: ApiKey[] = accounts.slice(from, from + rows).map((accountId, at) => ({
      ...{ id: random.uuid(), accountId, name: "", digest: random.bytes(32), pepperVersion: 1, prefix: "", last4: "" },
      ...{
        createdAt: new Date(),
        revokedAt: null,
        lastUsedAt: null,
        rotatedTo: null,
        rotatedFrom: null,
      },
      limits: {
        ...noLimits,
        budgetPicoUsd: budget,
        budgetPeriod: at % 2 === 0 ? ("day" as const) : ("month" as const),
      },
      ...{
        requestId: null,
        limitsOf: null,
        manages: false,
        personId: null,
        disabled: false,
        updatedAt: null,
        warnAt: null,
      },
    }));
    await storage.orm.em.fork().insertMany(ApiKey, keys);
    payers.push(...keys.map((key) => ({ accountId: key.accountId, keyId: key.id, budget: toBudget(key) })));
  }
  return payers;
}
