import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Credit, Funds, LotStatement, Refund } from "#src/money/model/payments.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import type { Storage } from "#src/storage/storage.ts";

/** Money without a ledger: accounts are stored, lots are kept in memory, and nothing is spent. */
export function createFakeFunds(
  storage: Storage,
  clock: Clock,
): Funds & { readonly credits: Credit[]; readonly refunds: Refund[] } {
  const lots = new Map<string, LotStatement[]>();
  const credits: Credit[] = [];
  const refunds: Refund[] = [];
  const lotsOf = (accountId: string) => {
    const found = lots.get(accountId);
    if (!found) {
      throw failure(Reason.ACCOUNT_NOT_FOUND, "There is no such account.");
    }
    return found;
  };
  const add = (accountId: string, kind: Credit["kind"], amount: number, expiresAt?: Date) => {
    const id = v7();
    const createdAt = new Date(clock.now());
    lotsOf(accountId).push({
      id,
      kind,
      granted: amount,
      remaining: amount,
      priceVersion: "1",
      createdAt,
      ...(expiresAt ? { expiresAt } : {}),
    });
    return { lotId: id };
  };
  const statement = async (accountId: string) => {
    const own = lotsOf(accountId);
    const sum = (some: LotStatement[]) => some.reduce((total, lot) => total + BigInt(lot.remaining), 0n);
    const paid = own.filter((lot) => lot.kind === "paid");
    return {
      createdAt: clock.now(),
      balance: sum(own),
      held: 0n,
      debt: 0n,
      credit: 0n,
      paidTotal: sum(paid),
      freeOnly: paid.length === 0,
      lots: own,
    };
  };
  return {
    credits,
    refunds,
    async check() {},
    async open(account, freeGrant) {
      const facts = {
        requestId: null,
        ...account,
        nameKey: toNameKey(account.name),
        createdAt: new Date(clock.now()),
        paidTotal: 0n,
        debt: 0n,
      };
      await storage.orm.em.fork().insert(Account, facts);
      lots.set(account.id, []);
      if (freeGrant > 0) {
        add(account.id, "free", freeGrant);
      }
    },
    async credit(credit) {
      credits.push(credit);
      return add(credit.accountId, credit.kind, credit.amount, credit.expiresAt);
    },
    async refund(refund) {
      const own = lotsOf(refund.accountId).filter(({ kind }) => kind === "paid");
      const lot = own.find(({ remaining }) => remaining >= refund.amount);
      if (lot === undefined) {
        throw failure(Reason.REFUND_EXCEEDS_BALANCE, `nothing to refund to ${refund.accountId}`);
      }
      Object.assign(lot, { remaining: lot.remaining - refund.amount });
      refunds.push(refund);
      return { lotId: lot.id };
    },
    async setCreditLine(accountId, creditLine) {
      await storage.orm.em.fork().nativeUpdate(Account, accountId, { creditLine });
    },
    statement,
    async statements(accountIds) {
      return new Map(await Promise.all(accountIds.map(async (id) => [id, await statement(id)] as const)));
    },
    async credited(accountId) {
      return lotsOf(accountId).reduce((total, { granted }) => total + BigInt(granted), 0n);
    },
    async payments() {
      return [];
    },
    async lots(accountId, { after = "", limit }) {
      return lotsOf(accountId)
        .filter(({ id }) => id > after)
        .slice(0, limit);
    },
  };
}
