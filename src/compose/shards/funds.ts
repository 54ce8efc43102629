import type { Funds, Statement } from "../../metering/books/payments/interface.ts";
import type { Claims } from "./claims.ts";
import type { Moves } from "./moves/moves.ts";
import type { Shard } from "./open-shards.ts";
import type { Shards } from "./shards.ts";

/** Moves money in each account's own database. References are claimed in the first. */
export function routeFunds(shards: Shards<Shard>, claims: Claims, moves: Moves): Funds {
  const of = (accountId: string) => shards.of(accountId).books.funds;
  return {
    open: async (account, ...more) => of(account.id).open(account, ...more),
    credit: (credit, alongside) =>
      moves.whereItIs(credit.accountId, async ({ books: { funds } }) => {
        await funds.statement(credit.accountId); // an account that does not exist takes no reference
        await claims.takeReference(credit.reference, credit.accountId);
        return funds.credit(credit, alongside);
      }),
    refund: (refund, alongside) =>
      moves.whereItIs(refund.accountId, async ({ books: { funds } }) => {
        await funds.statement(refund.accountId);
        await claims.takeReference(refund.reference, refund.accountId);
        return funds.refund(refund, alongside);
      }),
    statement: (accountId) => moves.whereItIs(accountId, async ({ books }) => books.funds.statement(accountId)),
    async statements(accountIds) {
      const byFunds = Map.groupBy(accountIds, of);
      const found = await Promise.all([...byFunds].map(([funds, ids]) => funds.statements(ids)));
      return new Map<string, Statement>(found.flatMap((statements) => [...statements]));
    },
    async credited(accountId) {
      const parts = shards.everywhere(accountId).map(({ books }) => books.funds.credited(accountId));
      return (await Promise.all(parts)).reduce((sum, part) => sum + part, 0n);
    },
    payments: async (accountId, start) => of(accountId).payments(accountId, start),
    lots: async (accountId, start) => of(accountId).lots(accountId, start),
  };
}
