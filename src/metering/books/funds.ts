import { LockMode, type SqlEntityManager, UniqueConstraintViolationException } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { Random } from "../../../lib/ids/random.ts";
import { formatUsd, maxPicoUsd } from "../../../lib/money.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { Account } from "../../storage/entities/account.ts";
import { Lot, LotEntry, withFreeMoney } from "../../storage/entities/lot.ts";
import { Payment } from "../../storage/entities/payment.ts";
import { PriceVersion } from "../../storage/entities/price.ts";
import { Slice } from "../../storage/entities/slice.ts";
import { readSum, sumColumns, textColumns } from "../../storage/exact-sum.ts";
import type { Storage } from "../../storage/orm.ts";
import type { Row } from "../../storage/snapshot.ts";
import { inTransaction } from "../../storage/transaction.ts";
import type { Alongside, Credit, Funds, Movement, PicoUsd } from "../interface.ts";
import type { CoreLedger } from "../ledger/core-ledger.ts";
import { priorities } from "../store/spending-order.ts";
import { createDebts, payDebt } from "./debts.ts";
import { sumFreeMoney } from "./free-money.ts";
import { readLots, readStatement } from "./statement.ts";

/** The largest number of a 64-bit column. */
const mostPaid = 2n ** 63n - 1n;

/** Bounds on payments, in pico-USD. */
export interface PaymentLimits {
  readonly minimum: bigint;
  readonly maximum: bigint;
  /** On all payments of an account within any 24 hours. */
  readonly rolling24h: bigint;
}

const dayMs = 86_400_000;
/** Why a refund was refused: cores have leased the money. */
const leasedSql = Symbol("leased");
const refundTries = 5;
const refundRetryMs = 200;
/** Lots that a refund locks at once. */
const refundLots = 100;

/** What funds are made of. */
export interface FundsParts {
  readonly storage: Storage;
  readonly ledger: CoreLedger;
  readonly limits: PaymentLimits;
  readonly clock: Clock;
  readonly random: Random;
  /** Is told of every movement. Absent: nobody is. */
  readonly announce?: Alongside;
}

/** Makes lots of money that comes in, and takes unspent money out of them again. */
export function createFunds({ storage, ledger, limits, clock, random, announce }: FundsParts): Funds {
  const debts = createDebts({ storage, clock, random });

  /** Runs one transaction that has the account for itself. */
  async function withAccount<T>(
    accountId: string,
    run: (em: SqlEntityManager, account: Account) => Promise<T>,
  ): Promise<T> {
    try {
      return await tryWithAccount(accountId, run);
    } catch (error) {
      // Another account took the same reference in between; now it can be seen.
      if (error instanceof UniqueConstraintViolationException) {
        return tryWithAccount(accountId, run);
      }
      throw error;
    }
  }

  function tryWithAccount<T>(
    accountId: string,
    run: (em: SqlEntityManager, account: Account) => Promise<T>,
  ): Promise<T> {
    return inTransaction(storage, async (em) => {
      const account = await em.findOne(Account, accountId, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (account === null) {
        throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${accountId}.`, { parameter: "account_id" });
      }
      return run(em, account);
    });
  }

  async function addLot(em: SqlEntityManager, account: Account, credit: Credit): Promise<string> {
    const { kind, amount, reference } = credit;
    const at = new Date(clock.now());
    const lotId = random.uuid();
    const paymentId = random.uuid();
    const [version] = await em.find(PriceVersion, {}, { orderBy: { id: "desc" }, limit: 1 });
    if (version === undefined) {
      throw new Error("money cannot come in before there are prices");
    }
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
      priceVersionId: version.id,
      createdAt: at,
      expiresAt: credit.expiresAt ?? null,
      paymentId,
    });
    await em.insert(LotEntry, { id: random.uuid(), lotId, kind: "grant", amount, paymentId, at });
    await payDebt(em, account, { clock, random });
    if (kind === "paid") {
      account.paidTotal = addPaid(account.paidTotal, BigInt(amount));
    }
    return lotId;
  }

  /** Tells of a movement in its own transaction. */
  async function tell(em: SqlEntityManager, movement: Movement, alongside: Alongside | undefined): Promise<void> {
    await em.flush();
    await announce?.(em, movement);
    await alongside?.(em, movement);
  }

  /** Adds a lot and tells of it. */
  async function takeIn(
    em: SqlEntityManager,
    account: Account,
    credit: Credit,
    alongside?: Alongside,
  ): Promise<string> {
    const before = account.paidTotal;
    const lotId = await addLot(em, account, credit);
    const paidTotal = { before, after: account.paidTotal };
    const { kind, amount, reference } = credit;
    await tell(em, { accountId: account.id, kind, amount, reference, lotId, paidTotal }, alongside);
    return lotId;
  }

  async function checkLimits(em: SqlEntityManager, accountId: string, amount: PicoUsd): Promise<void> {
    const refuse = (reason: Reason, limit: bigint, actual: bigint, message: string) =>
      failure(reason, message, { parameter: "amount_pico_usd", bound: moneyBound(limit, actual) });
    const asked = BigInt(amount);
    if (asked < limits.minimum) {
      throw refuse(
        Reason.PAYMENT_BELOW_MINIMUM,
        limits.minimum,
        asked,
        `A payment must be at least ${formatUsd(limits.minimum)} USD (payment minimum).`,
      );
    }
    if (asked > limits.maximum) {
      throw refuse(
        Reason.PAYMENT_ABOVE_MAXIMUM,
        limits.maximum,
        asked,
        `A payment must be at most ${formatUsd(limits.maximum)} USD (payment maximum).`,
      );
    }
    const since = new Date(clock.now() - dayMs);
    const [recent] = await em.execute<Row[]>(
      `select ${textColumns("paid", "sums")} from (
         select ${sumColumns("amount", "paid")} from payment where account_id = ? and kind = 'paid' and at > ?) sums`,
      [accountId, since],
    );
    const total = readSum(recent, "paid") + asked;
    if (total > limits.rolling24h) {
      throw refuse(
        Reason.PAYMENT_24H_LIMIT,
        limits.rolling24h,
        total,
        `Payments of an account within 24 hours must not pass ${formatUsd(limits.rolling24h)} USD in total (rolling 24-hour limit).`,
      );
    }
  }

  /** Takes money out of the account's newest paid lots. Returns the newest one touched. */
  async function takeBack(em: SqlEntityManager, account: Account, amount: PicoUsd, paymentId: string): Promise<string> {
    const at = new Date(clock.now());
    await checkRefundable(em, account, amount, at);
    let left = amount;
    let newest: string | undefined;
    while (left > 0) {
      const lots = await newestPaidLots(em, account.id, at);
      if (lots.length === 0) {
        throw tooMuch(amount, amount - left, true); // a core was faster
      }
      for (const lot of lots) {
        const taken = Math.min(left, lot.granted - lot.spent - lot.leased - lot.refunded - lot.expired);
        if (taken <= 0) {
          continue;
        }
        lot.refunded += taken;
        left -= taken;
        newest ??= lot.id;
        await em.insert(LotEntry, { id: random.uuid(), lotId: lot.id, kind: "refund", amount: taken, paymentId, at });
      }
      await em.flush();
    }
    account.paidTotal -= BigInt(amount);
    return newest ?? "";
  }

  async function checkRefundable(em: SqlEntityManager, account: Account, amount: PicoUsd, now: Date): Promise<void> {
    const free = await sumFreeMoney(em, account.id, now, "paid");
    if (free >= BigInt(amount)) {
      return;
    }
    const slices = await em.find(Slice, { accountId: account.id, open: true });
    const paid = await em.find(Lot, { id: { $in: slices.map((slice) => slice.lotId) }, kind: "paid" });
    const leased = paid.reduce((sum, lot) => sum + BigInt(lot.leased), 0n);
    throw tooMuch(amount, Number(free), BigInt(amount) - free <= leased);
  }

  /** Tries again for a moment where other cores may have leased the money: they have been told to give it back. */
  async function insist(attempt: () => Promise<string>): Promise<string> {
    for (let tries = storage.dialect === "postgresql" ? refundTries : 1; ; tries--) {
      try {
        return await attempt();
      } catch (error) {
        if (tries <= 1 || (error as Error).cause !== leasedSql) {
          throw error;
        }
        await new Promise<void>((resolve) => clock.after(refundRetryMs, resolve));
      }
    }
  }

  return {
    async open(account, freeGrant, alongside) {
      await inTransaction(storage, async (em) => {
        const row = em.create(Account, {
          requestId: null,
          ...account,
          createdAt: new Date(clock.now()),
          paidTotal: 0n,
          debt: 0n,
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

    async credit(credit, alongside) {
      checkAmount(credit.amount);
      try {
        const lotId = await withAccount(credit.accountId, async (em, account) => {
          const before = await sameBefore(em, credit);
          if (before !== undefined) {
            return before;
          }
          if (credit.kind === "paid") {
            await checkLimits(em, account.id, credit.amount);
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
      const { accountId, amount, reference } = refund;
      const attempt = async () => {
        await debts.pay(accountId); // by itself, so that it stays paid when the refund is refused
        return withAccount(accountId, async (em, account) => {
          const before = await sameBefore(em, { ...refund, kind: "refund" });
          if (before !== undefined) {
            return before;
          }
          await payDebt(em, account, { clock, random });
          if (account.debt > 0n) {
            throw owes(amount, account.debt);
          }
          const id = random.uuid();
          const paidBefore = account.paidTotal;
          const lotId = await takeBack(em, account, amount, id);
          const at = new Date(clock.now());
          await em.insert(Payment, { id, accountId, kind: "refund", amount, reference, lotId, at });
          const paidTotal = { before: paidBefore, after: account.paidTotal };
          await tell(em, { accountId, kind: "refund", amount, reference, lotId, paidTotal }, alongside);
          return lotId;
        });
      };
      try {
        return { lotId: await ledger.withFreeReturned(accountId, () => insist(attempt)) };
      } finally {
        await ledger.refresh(accountId);
      }
    },

    statement: (accountId) =>
      readStatement(storage, accountId, { held: BigInt(ledger.held(accountId)), now: clock.now() }),
    lots: (accountId, start) => readLots(storage, accountId, { ...start, now: clock.now() }),
  };
}

/** Some of an account's newest paid lots that have free money, locked; newest first. */
async function newestPaidLots(em: SqlEntityManager, accountId: string, now: Date): Promise<Lot[]> {
  const part = (which: string) => `
    select * from (
      select id, created_at from lot where account_id = ? and ${withFreeMoney} and ${which}
        and priority = ${priorities.paid}
      order by created_at desc, id desc limit ${refundLots}) part`;
  const found = await em.execute<{ id: string }[]>(
    `select id from (${part("expires_at is null")} union all ${part("expires_at is not null and expires_at > ?")}) lots
     order by created_at desc, id desc limit ${refundLots}`,
    [accountId, accountId, now],
  );
  const ids = found.map(({ id }) => id);
  const lots = await em.find(
    Lot,
    { id: { $in: ids } },
    { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  return lots.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1));
}

/** The bound that an amount passed, as an error tells it. */
function moneyBound(limitPicoUsd: bigint, actualPicoUsd?: bigint) {
  const value = { limitPicoUsd, ...(actualPicoUsd === undefined ? {} : { actualPicoUsd }) };
  return { case: "money", value } as const;
}

function tooMuch(amount: PicoUsd, free: PicoUsd, leased: boolean) {
  return failure(
    Reason.REFUND_EXCEEDS_BALANCE,
    `Only ${formatUsd(BigInt(free))} USD of paid money is unspent and not held by running requests.`,
    { parameter: "amount_pico_usd", bound: moneyBound(BigInt(free), BigInt(amount)) },
    leased ? leasedSql : undefined,
  );
}

/** Running requests or other cores have all that could pay the debt: it may come back in a moment. */
function owes(amount: PicoUsd, debt: bigint) {
  return failure(
    Reason.REFUND_EXCEEDS_BALANCE,
    `The account owes ${formatUsd(debt)} USD, which is paid before anything is refunded.`,
    { parameter: "amount_pico_usd", bound: moneyBound(0n, BigInt(amount)) },
    leasedSql,
  );
}

/** The lot of a payment that was already taken. Throws when the reference stands for something else. */
async function sameBefore(
  em: SqlEntityManager,
  payment: Pick<Payment, "accountId" | "kind" | "amount" | "reference">,
): Promise<string | undefined> {
  const before = await em.findOne(Payment, { reference: payment.reference });
  if (before === null) {
    return undefined;
  }
  const same =
    before.accountId === payment.accountId && before.kind === payment.kind && before.amount === payment.amount;
  if (same) {
    return before.lotId;
  }
  throw failure(
    Reason.PAYMENT_REFERENCE_CONFLICT,
    `The reference ${payment.reference} was already used for another account, kind or amount.`,
    { parameter: "reference" },
  );
}

function checkAmount(amount: PicoUsd): void {
  if (Number.isSafeInteger(amount) && amount > 0) {
    return;
  }
  throw failure(Reason.INVALID_ARGUMENT, `An amount must be above 0 and at most ${formatUsd(maxPicoUsd)} USD.`, {
    parameter: "amount_pico_usd",
    bound: moneyBound(maxPicoUsd),
  });
}

/** What an account has paid. Throws INVALID_ARGUMENT past what a 64-bit column holds, where SQLite would round it. */
function addPaid(total: bigint, amount: bigint): bigint {
  if (total + amount <= mostPaid) {
    return total + amount;
  }
  throw failure(
    Reason.INVALID_ARGUMENT,
    `An account cannot have paid more than ${formatUsd(mostPaid)} USD in total: open another one.`,
    { parameter: "amount_pico_usd" },
  );
}
