import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import { Lot, LotEntry } from "#src/storage/entities/metering/lot.ts";
import { Payment } from "#src/storage/entities/payment.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { readCreditOwed } from "../../ledger/wallet/credit-line.ts";
import { createDebts, payDebt } from "../../ledger/wallet/debts.ts";
import type { BalanceJudge } from "../../model/balances.ts";
import type { CoreLedger } from "../../model/core-ledger.ts";
import type { Alongside, Credit, Funds, Movement } from "../../model/payments.ts";
import { priorities } from "../../model/spending-order.ts";
import { newestVersion } from "../../prices/newest-version.ts";
import { readOwnPrices } from "../../prices/own-prices.ts";
import { readLots, readStatement, readStatements } from "../statement.ts";
import { readCredited } from "./credited.ts";
import { readPayments } from "./payment-list.ts";
import {
  addPaid,
  boundsOfOrdered,
  checkAmount,
  checkLimits,
  type LotPrices,
  type PaymentLimits,
  pricesOfRefund,
  sameBefore,
} from "./payments.ts";
import { insist, owes, takeBack, takeBackOrOwe } from "./refunds.ts";
import { withAccount } from "./with-account.ts";

interface Dependencies {
  readonly storage: Storage;
  readonly ledger: CoreLedger;
  readonly limits: PaymentLimits;
  readonly clock: Clock;
  readonly random: Random;
  /** Called with every movement. Absent: movements are not announced. */
  readonly announce?: Alongside;
  /** Judges the balance before and after each movement. Absent: it is not judged. */
  readonly balances?: BalanceJudge | undefined;
}

/** The prices of this moment. Free money and gifts pay the general ones. */
async function newestPrices(em: SqlEntityManager, { accountId, kind }: Credit): Promise<LotPrices> {
  const priceVersionId = await newestVersion(em);
  const own = kind === "paid" ? await readOwnPrices(em, accountId) : undefined;
  return { priceVersionId, ownPricesId: own?.id ?? null };
}

/** Makes lots of incoming money, and takes unspent money out of lots again. */
export function createFunds({ storage, ledger, limits, clock, random, announce, balances }: Dependencies): Funds {
  const debts = createDebts({ storage, clock, random, balances });
  const held = (accountId: string) => ledger.held(accountId);

  async function addLot(em: SqlEntityManager, account: Account, credit: Credit): Promise<string> {
    const { kind, amount, reference } = credit;
    const at = new Date(clock.now());
    const lotId = random.uuid();
    const paymentId = random.uuid();
    const { undoes } = credit;
    const prices =
      undoes === undefined ? await newestPrices(em, credit) : await pricesOfRefund(em, { ...credit, undoes });
    await em.insert(Payment, { id: paymentId, accountId: account.id, kind, amount, reference, lotId, at });
    await em.insert(Lot, {
      id: lotId,
      accountId: account.id,
      kind,
      priority: priorities[kind],
      granted: amount,
      spent: 0,
      leased: 0,
      refunded: 0,
      expired: 0,
      ...prices,
      createdAt: at,
      expiresAt: credit.expiresAt ?? null,
      paymentId,
    });
    await em.insert(LotEntry, { id: random.uuid(), lotId, kind: "grant", amount, paymentId, at });
    await payDebt(em, account, { clock, random });
    if (kind === "paid") {
      account.paidTotal = addPaid(account.paidTotal, BigInt(amount));
      account.lastPaid = undoes === undefined ? amount : account.lastPaid;
    }
    return lotId;
  }

  /** Announces a movement and judges the balance that it leaves, in the movement's own transaction. */
  async function tell(
    em: SqlEntityManager,
    account: Account,
    movement: Movement,
    alongside: Alongside | undefined,
  ): Promise<void> {
    await em.flush();
    await announce?.(em, movement);
    await alongside?.(em, movement);
    await balances?.judge(em, account);
  }

  /** Adds a lot and announces it. */
  async function takeIn(
    em: SqlEntityManager,
    account: Account,
    credit: Credit,
    alongside?: Alongside,
  ): Promise<string> {
    const before = account.paidTotal;
    await balances?.judgeFall(em, account);
    const lotId = await addLot(em, account, credit);
    const paidTotal = { before, after: account.paidTotal };
    const { kind, amount, reference, undoes } = credit;
    const movement = { accountId: account.id, kind, amount, reference, lotId, paidTotal };
    await tell(em, account, { ...movement, ...(undoes !== undefined && { undoes }) }, alongside);
    return lotId;
  }

  return {
    async open(account, freeGrant, alongside) {
      await inTransaction(storage, async (em) => {
        const row = em.create(Account, {
          requestId: null,
          email: null,
          ...account,
          nameKey: toNameKey(account.name),
          createdAt: new Date(clock.now()),
          paidTotal: 0n,
          debt: 0n,
          creditLine: 0,
          balanceTold: "exhausted", // it never had money, so there is nothing to tell
        });
        await em.flush();
        await alongside?.(em);
        if (freeGrant === 0) {
          return;
        }
        checkAmount(freeGrant);
        const reference = `free:${account.id}`;
        await takeIn(em, row, {
          accountId: account.id,
          kind: "free",
          amount: freeGrant,
          reference,
        });
      });
    },

    async check(accountId, amount) {
      checkAmount(amount);
      await withAccount(storage, accountId, (em, account) => checkLimits(em, account.id, amount, { limits, clock }));
    },

    async credit(credit, alongside) {
      checkAmount(credit.amount);
      try {
        const lotId = await withAccount(storage, credit.accountId, async (em, account) => {
          const before = await sameBefore(em, credit);
          if (before !== undefined) {
            return before;
          }
          if (credit.kind === "paid" && credit.undoes === undefined) {
            const bounds = credit.isOrdered ? boundsOfOrdered(limits, credit.amount) : limits;
            await checkLimits(em, account.id, credit.amount, { limits: bounds, clock });
          }
          return takeIn(em, account, credit, alongside);
        });
        return { lotId };
      } finally {
        await ledger.refresh(credit.accountId); // also when the reply was lost: the money may have come in
      }
    },

    async refund(refund, alongside) {
      checkAmount(refund.amount);
      const { accountId, amount, reference, intoDebt = false } = refund;
      const attempt = async () => {
        await debts.pay(accountId); // in its own transaction, so that the debt stays paid when the refund is refused
        return withAccount(storage, accountId, async (em, account) => {
          const before = await sameBefore(em, { ...refund, kind: "refund" });
          if (before !== undefined) {
            return before;
          }
          await payDebt(em, account, { clock, random });
          const owed = account.debt + BigInt(await readCreditOwed(em, accountId));
          if (owed > 0n && !intoDebt) {
            throw owes(amount, owed);
          }
          const id = random.uuid();
          const paidBefore = account.paidTotal;
          const taken = { amount, paymentId: id };
          const { lotId, owed: fallenShort } = intoDebt
            ? await takeBackOrOwe(em, account, taken, { clock, random })
            : { lotId: await takeBack(em, account, taken, { clock, random }), owed: 0 };
          const at = new Date(clock.now());
          await em.insert(Payment, { id, accountId, kind: "refund", amount, owed: fallenShort, reference, lotId, at });
          const paidTotal = { before: paidBefore, after: account.paidTotal };
          await tell(em, account, { accountId, kind: "refund", amount, reference, lotId, paidTotal }, alongside);
          return lotId;
        });
      };
      try {
        return { lotId: await ledger.withFreeReturned(accountId, () => insist({ storage, clock }, attempt)) };
      } finally {
        await ledger.refresh(accountId);
      }
    },

    async setCreditLine(accountId, line) {
      if (line > 0) {
        checkAmount(line);
      }
      try {
        await ledger.withFreeReturned(accountId, () =>
          withAccount(storage, accountId, async (em, account) => {
            account.creditLine = line;
            await payDebt(em, account, { clock, random });
            await balances?.judge(em, account);
          }),
        );
      } finally {
        await ledger.refresh(accountId); // other cores give back what they have of a line that became less
      }
      await debts.pay(accountId);
    },

    statement: (accountId) => readStatement(storage, accountId, { held, now: clock.now() }),
    statements: (accountIds) => readStatements(storage, accountIds, { held, now: clock.now() }),
    credited: (accountId) => readCredited(storage, accountId, clock.now()),
    payments: (accountId, start) => readPayments(storage, accountId, start),
    lots: (accountId, start) => readLots(storage, accountId, { ...start, now: clock.now() }),
  };
}
