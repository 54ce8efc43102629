import { LockMode } from "@mikro-orm/sql";
import type { Random } from "#lib/ids/random.ts";
import type { JudgedClock } from "#src/storage/database-clock.ts";
import { Account } from "#src/storage/entities/account.ts";
import { Lot, LotEntry } from "#src/storage/entities/metering/lot.ts";
import { withFreeMoney } from "#src/storage/entities/metering/lot-conditions.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { BalanceJudge } from "../model/balances.ts";

/** Lots in one transaction. */
const batch = 100;

interface Dependencies {
  readonly storage: Storage;
  readonly clock: JudgedClock;
  readonly random: Random;
  /** Judges the balances that lapsed money leaves. Absent: they are not judged. */
  readonly balances?: Pick<BalanceJudge, "judgeFall"> | undefined;
}

/**
 * Lets the money of expired lots lapse. Spent money stays spent; leased money lapses once cores have given it back.
 * Expiry cannot be undone, so nothing lapses while the clocks disagree. Returns how many lots were due.
 */
export async function expireLots(parts: Dependencies): Promise<number> {
  let expired = 0;
  for (;;) {
    await parts.clock.measure();
    if (!parts.clock.agrees) {
      return expired;
    }
    const found = await expireSome(parts);
    expired += found;
    if (found < batch) {
      return expired;
    }
  }
}

function expireSome({ storage, clock, random, balances }: Dependencies): Promise<number> {
  const at = new Date(clock.now());
  return inTransaction(storage, async (em) => {
    const due = await em.execute<{ id: string; account_id: string }[]>(
      `select id, account_id from lot where expires_at is not null and expires_at <= ? and ${withFreeMoney} and kind <> 'credit' order by expires_at, id limit ${batch}`,
      [at],
    );
    const accounts = await em.find(
      Account,
      { id: { $in: due.map((lot) => lot.account_id) } },
      { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    const lots = await em.find(
      Lot,
      { id: { $in: due.map(({ id }) => id) } },
      { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    for (const lot of lots) {
      const amount = lot.granted - lot.spent - lot.leased - lot.refunded - lot.expired;
      if (amount === 0) {
        continue;
      }
      lot.expired += amount;
      await em.insert(LotEntry, { id: random.uuid(), lotId: lot.id, kind: "expire", amount, paymentId: null, at });
    }
    await em.flush();
    for (const account of accounts) {
      await balances?.judgeFall(em, account);
    }
    return lots.length;
  });
}
