import { systemRandom } from "#lib/ids/random.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import type { Storage } from "#src/storage/storage.ts";

/** Makes an account that has no money, as the books have it. Returns its id. */
export async function makePoorAccount(storage: Storage): Promise<string> {
  const id = systemRandom.uuid();
  await storage.orm.em.fork().insert(Account, {
    ...{ id, name: "", nameKey: toNameKey(""), maxKeys: 1, createdAt: new Date(), requestId: null },
    ...{ paidTotal: 0n, debt: 0n, frozenAt: null, frozenReason: null, maxInFlight: null, serviceClass: null },
    ...{ lowBalance: null, lastPaid: null, balanceTold: "ample" },
  });
  return id;
}
