import { LockMode } from "@mikro-orm/sql";
import type { Random } from "../../../lib/ids/random.ts";
import type { JudgedClock } from "../../storage/database-clock.ts";
import { Lot, LotEntry, withFreeMoney } from "../../storage/entities/metering/lot.ts";
import type { Storage } from "../../storage/orm.ts";
import { inTransaction } from "../../storage/transaction.ts";

/** Lots in one transaction. */
const batch = 100;

interface ExpiryParts {
  readonly storage: Storage;
  readonly clock: JudgedClock;
  readonly random: Random;
}

/**
 * Lets the money of expired lots lapse: what is spent stays spent, what cores have leased lapses once
 * they have given it back. It cannot be undone, so nothing lapses while the clocks disagree. Returns how many lots
 * lost money.
 */
export async function expireLots(parts: ExpiryParts): Promise<number> {
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

function expireSome({ storage, clock, random }: ExpiryParts): Promise<number> {
  const at = new Date(clock.now());
  return inTransaction(storage, async (em) => {
    const due = await em.execute<{ id: string }[]>(
      `select id from lot where expires_at is not null and expires_at <= ? and ${withFreeMoney} order by expires_at, id limit ${batch}`,
      [at],
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
    return lots.length;
  });
}
