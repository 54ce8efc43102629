import { readSealNumbers } from "#src/money/books/bill/day-proofs.ts";
import { readLotBalances } from "#src/money/books/bill/lot-balances.ts";
import { readMonths } from "#src/money/books/bill/months.ts";
import { readBalance, readEnd } from "#src/money/books/bill/movements.ts";
import type { World } from "../world.ts";
import { readArchived } from "./archives.ts";

const dayMs = 86_400_000;

/** What an account has and owes by its credits alone. */
interface Has {
  readonly balance: number;
  readonly owed: number;
  /** Bought money, which pays what is owed once no core has leased it. */
  readonly bought: number;
  readonly charged: number;
}

/**
 * Judges the months of accounts, once nothing runs and nothing is leased: they lead to the balance that the credits have and to
 * what is owed beyond bought money, every month begins as the one before ended, and what they charged are all receipts. The
 * credits that an account had at the beginning of a day add up to its balance of then.
 */
export async function judgeMonths(world: World): Promise<void> {
  const { customers, history, server } = world;
  const storage = server.storage;
  for (const { accountId } of customers) {
    const has = readHas(world, accountId);
    if (has === undefined) {
      continue; // a failover has lost the account
    }
    const now = await readEnd(storage, accountId, server.now());
    const { months } = await readMonths(storage, { accountId, month: "", now });
    const [newest] = months;
    const charged = months.reduce((sum, { chargedPicoUsd }) => sum + Number(chargedPicoUsd), 0);
    const told = { balance: Number(newest?.closingPicoUsd), owed: Number(newest?.owedPicoUsd), charged };
    const isOwed = told.owed <= has.owed && told.owed >= has.owed - has.bought;
    if (told.balance !== has.balance || charged !== has.charged || !isOwed) {
      history.violation("months", `${accountId} has ${JSON.stringify(has)}, and months say ${JSON.stringify(told)}`);
    }
    for (const [at, { month, openingPicoUsd, owedPicoUsd }] of months.entries()) {
      const before = months[at + 1];
      if (
        openingPicoUsd !== (before?.closingPicoUsd ?? "0") ||
        Number(owedPicoUsd) < -Number(months[at]?.closingPicoUsd)
      ) {
        history.violation(
          "months",
          `${month} of ${accountId} begins with ${openingPicoUsd} and ends owing ${owedPicoUsd}`,
        );
      }
    }
    await judgeOpenings(world, accountId, now);
  }
}

/** At the beginning of each day that the world has lived the credits have what the balance is. */
async function judgeOpenings({ server, history, timeline }: World, accountId: string, now: number): Promise<void> {
  const { storage } = server;
  const seals = await readSealNumbers(storage);
  for (let from = timeline.beginning - (timeline.beginning % dayMs); from <= now; from += dayMs) {
    const { sum } = await readLotBalances(storage, accountId, { from, now, seals });
    const balance = await readBalance(storage, accountId, from);
    if (sum !== balance) {
      history.violation("months", `the credits of ${accountId} had ${sum} at ${from}, and the balance was ${balance}`);
    }
  }
}

function readHas(world: World, accountId: string): Has | undefined {
  const has = world.server.tables.get<Has>(
    `select coalesce(sum(case kind when 'credit' then repaid - spent else granted - spent - refunded - expired end), 0) - debt as balance,
       coalesce(sum(case kind when 'credit' then spent - repaid end), 0) + debt as owed,
       coalesce(sum(case kind when 'paid' then granted - spent - refunded - expired end), 0) as bought,
       (select coalesce(sum(cost), 0) from usage where account_id = account.id) as charged
     from account left join lot on lot.account_id = account.id where account.id = ? group by account.id`,
    accountId,
  );
  const left = readArchived(world).filter((receipt) => receipt.accountId === accountId);
  return has && { ...has, charged: left.reduce((sum, { cost }) => sum + cost, has.charged) };
}
