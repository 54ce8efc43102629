import type { Random } from "#lib/ids/random.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Lot, LotEntry } from "#src/storage/entities/metering/lot.ts";
import { Payment } from "#src/storage/entities/payment.ts";
import type { Storage } from "#src/storage/storage.ts";

const rows = 1000;
/** 1,000 USD: more than a load spends. */
const amount = 1e15;

/** Makes accounts with one paid lot each, many rows a statement. Returns their ids. */
export async function createAccounts(storage: Storage, random: Random, count: number): Promise<string[]> {
  const at = new Date();
  const ids = Array.from({ length: count }, () => random.uuid());
  for (let from = 0; from < count; from += rows) {
    const accounts = ids.slice(from, from + rows).map((id) => ({
      account: { id, name: "", nameKey: Buffer.of(), maxKeys: 1, createdAt: at, paidTotal: BigInt(amount), debt: 0n },
      lotId: random.uuid(),
      paymentId: random.uuid(),
    }));
    await storage.orm.em.fork().transactional(async (em) => {
      await em.insertMany(
        Account,
        accounts.map(({ account }) => account),
      );
      await em.insertMany(
        Payment,
        accounts.map(({ account, lotId, paymentId }) => ({
          ...{ id: paymentId, accountId: account.id, kind: "paid" as const, amount, reference: paymentId, lotId, at },
        })),
      );
      await em.insertMany(
        Lot,
        accounts.map(({ account, lotId, paymentId }) => ({
          ...{ id: lotId, accountId: account.id, kind: "paid" as const, priority: 50, granted: amount, spent: 0 },
          ...{ leased: 0, refunded: 0, expired: 0, priceVersionId: 1, createdAt: at, expiresAt: null, paymentId },
        })),
      );
      await em.insertMany(
        LotEntry,
        accounts.map(({ lotId, paymentId }) => ({
          ...{ id: random.uuid(), lotId, kind: "grant" as const, amount, paymentId, at },
        })),
      );
    });
  }
  return ids;
}
