import { validate as isUuid } from "uuid";
import { isStorable } from "#lib/text/storable.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import type { Storage } from "#src/storage/storage.ts";

/** What a request cost over all of its runs, in pico-USD. */
export interface RequestCost {
  readonly requestId: string;
  readonly cost: bigint;
}

/** The costs of requests, in the order of their ids. Requests without a charge are left out. Given an account, so are others'. */
export async function readCosts(
  storage: Storage,
  requestIds: readonly string[],
  accountId: string | undefined,
): Promise<RequestCost[]> {
  if (accountId !== undefined && !isUuid(accountId)) {
    return [];
  }
  const ids = [...new Set(requestIds.filter(isStorable))];
  const where = { requestId: { $in: ids }, ...(accountId !== undefined && { accountId }) };
  const runs = await storage.orm.em.fork().find(Usage, where, { fields: ["requestId", "cost"] });
  const costs = new Map<string, bigint>();
  for (const { requestId, cost } of runs) {
    costs.set(requestId, (costs.get(requestId) ?? 0n) + BigInt(cost));
  }
  return ids.flatMap((requestId) => {
    const cost = costs.get(requestId);
    return cost === undefined ? [] : [{ requestId, cost }];
  });
}
