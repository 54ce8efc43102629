import { v7 } from "uuid";
import { ApiKey } from "#src/storage/entities/api-key.ts";
import type { Metering } from "./fixture.ts";

/** Stores a key, so that what it spends is found by its account. Returns its id. */
export async function storeKey({ storage }: Pick<Metering, "storage">, accountId: string): Promise<string> {
  const id = v7();
  await storage.orm.em.fork().insert(ApiKey, {
    ...{ id, accountId, name: "", digest: Buffer.from(id), pepperVersion: 1, prefix: "", last4: "" },
    ...{ limits: {}, createdAt: new Date(), revokedAt: null, lastUsedAt: null, rotatedTo: null },
    ...{ rotatedFrom: null, requestId: null, limitsOf: null },
  });
  return id;
}
