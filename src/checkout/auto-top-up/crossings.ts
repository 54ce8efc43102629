import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { AutoTopUp } from "#src/storage/entities/checkout/customer.ts";
import { ProviderPayment } from "#src/storage/entities/checkout/provider-payment.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { Dependencies } from "../dependencies.ts";
import { finalReason, isOverDay } from "../faults.ts";
import { answeredMs, newPayment, orderOfCrossing } from "../payments.ts";
import type { Charges } from "./charges.ts";
import { chargedThisMonth, startOfMonth } from "./settings.ts";

/** Accounts looked at in one go. */
const atOnce = 500;
/** Milliseconds until a charge that was broken off is carried on. */
const carryOnMs = 60_000;
/** Milliseconds until an account over a payment limit is looked at again. */
const overLimitMs = 3_600_000;

/** A crossing that was taken. `isLifted`: its charge brings the balance to the bound. */
interface Taken {
  readonly charge: ProviderPayment;
  readonly isLifted: boolean;
}

/**
 * Charges saved cards where balances have crossed below their bounds: one charge a crossing. A crossing is a number of
 * its account, taken by one core in one transaction that no other charge of the account may be under way in. The balance
 * is read after the number, so it has every charge before this one in it. A charge answers its crossing also where it
 * was too small to lift the balance to its bound: the next one comes after an hour, or once the balance has been there.
 */
export class Crossings {
  readonly #deps: Dependencies;
  readonly #charges: Charges;
  /** Accounts whose charge was too small, and when that was by the monotonic clock: the time of day may be set forward. */
  readonly #answered = new Map<string, number>();

  constructor(deps: Dependencies, charges: Charges) {
    this.#deps = deps;
    this.#charges = charges;
  }

  /** Looks at all accounts once. */
  async look(): Promise<void> {
    const { storage, clock, logger } = this.#deps;
    for (let after = ""; ; ) {
      const now = new Date(clock.now());
      const due = [{ notBefore: null }, { notBefore: { $lte: now } }, { declines: 0 }];
      const watched = { state: "on" as const, charging: null, $or: due };
      const where = after === "" ? watched : { ...watched, accountId: { $gt: after } };
      const em = storage.orm.em.fork();
      const rows = await em.find(AutoTopUp, where, { orderBy: { accountId: "asc" }, limit: atOnce });
      const last = rows.at(-1);
      if (last === undefined) {
        return;
      }
      after = last.accountId;
      const balances = await this.#readBalances(rows.map(({ accountId }) => accountId));
      for (const row of rows) {
        const balance = balances.get(row.accountId);
        if (balance !== undefined) {
          await this.#judge(row, balance, now).catch((error: unknown) =>
            logger.warn({ error, account: row.accountId }, "a saved card could not be charged yet"),
          );
        }
      }
    }
  }

  /** What some accounts have, less what they owe, which a charge pays first. Frozen ones are not among them. */
  async #readBalances(accountIds: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const { accounts } = await this.#deps.accounts.listAccounts({ accountIds: [...accountIds], pageSize: atOnce });
    const open = accounts.filter(({ frozen }) => !frozen);
    return new Map(open.map(({ id, balancePicoUsd, debtPicoUsd }) => [id, balancePicoUsd - debtPicoUsd]));
  }

  /** Acts on a balance. At its bound, the last crossing is over, and the card waits for nothing but the next one. */
  async #judge(seen: AutoTopUp, balance: bigint, now: Date): Promise<void> {
    const { accountId, below, crossing, notBefore, declines } = seen;
    if (balance < BigInt(below)) {
      await ((notBefore ?? now) > now || this.#rests(seen) ? undefined : this.#cross(seen));
    } else if (notBefore && declines === 0) {
      const answered = { accountId, crossing, charging: null, declines };
      await this.#deps.storage.orm.em.fork().nativeUpdate(AutoTopUp, answered, { notBefore: null });
    }
  }

  /** Whether a charge that was too small was made less than its rest ago, and the balance has not been at its bound since. */
  #rests({ accountId, notBefore }: AutoTopUp): boolean {
    const at = this.#answered.get(accountId);
    const isResting = at !== undefined && notBefore !== null && this.#deps.clock.monotonic() - at < answeredMs;
    if (!isResting) {
      this.#answered.delete(accountId);
    }
    return isResting;
  }

  async #cross(seen: AutoTopUp): Promise<void> {
    const { accountId, amount } = seen;
    try {
      const wish = { accountId, amountPicoUsd: BigInt(amount), reference: "auto top-up", validateOnly: true };
      await this.#deps.accounts.topUp(wish);
    } catch (error) {
      if (finalReason(error) !== undefined || isOverDay(error)) {
        const notBefore = new Date(this.#deps.clock.now() + overLimitMs);
        await this.#deps.storage.orm.em.fork().nativeUpdate(AutoTopUp, { accountId }, { notBefore });
      }
      throw error;
    }
    // Read again: the charges of the accounts before this one may have taken minutes.
    const balance = (await this.#readBalances([accountId])).get(accountId);
    const taken = balance === undefined ? undefined : await this.#take(seen, balance);
    if (taken !== undefined) {
      if (!taken.isLifted) {
        this.#answered.set(accountId, this.#deps.clock.monotonic());
      }
      await this.#charges.carryOn(taken.charge);
    }
  }

  /** Takes a crossing. Undefined: another core has taken it, it is none any more, or the month's bound is reached. */
  async #take({ accountId, crossing }: AutoTopUp, balance: bigint): Promise<Taken | undefined> {
    const { storage, clock } = this.#deps;
    const now = clock.now();
    return inTransaction(storage, async (em) => {
      const row = await em.findOne(AutoTopUp, { accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
      if (row === null || row.crossing !== crossing || row.charging !== null || row.state !== "on") {
        return undefined;
      }
      if (balance >= BigInt(row.below)) {
        return undefined; // money came, or the bound was lowered since
      }
      const charged = await chargedThisMonth(em, accountId, now);
      if (charged + BigInt(row.amount) > BigInt(row.monthly)) {
        await em.nativeUpdate(AutoTopUp, { accountId }, { notBefore: startOfMonth(now, 1) });
        return undefined;
      }
      const next = await nextCrossing(em, row);
      const id = orderOfCrossing(accountId, next);
      const order = { id, accountId, origin: "auto" as const, cause: String(next), amount: row.amount };
      const charge = newPayment(order, now, carryOnMs);
      await em.insert(ProviderPayment, charge);
      const isLifted = balance + BigInt(row.amount) >= BigInt(row.below);
      const notBefore = isLifted ? null : new Date(now + answeredMs);
      await em.nativeUpdate(AutoTopUp, { accountId }, { crossing: next, charging: id, notBefore });
      return { charge, isLifted };
    });
  }
}

/** The number of a new crossing: none whose charge came in after a failover into the past had lost the crossing itself. */
async function nextCrossing(em: SqlEntityManager, { accountId, crossing }: AutoTopUp): Promise<number> {
  let next = crossing + 1;
  while ((await em.count(ProviderPayment, orderOfCrossing(accountId, next))) > 0) {
    next++;
  }
  return next;
}
