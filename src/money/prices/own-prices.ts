import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import { Account } from "#src/storage/entities/account.ts";
import { OwnPrice, OwnPrices } from "#src/storage/entities/metering/own-prices.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { OwnTerms } from "../model/prices/own-prices.ts";

/** An account's own prices as they were set. */
export interface OwnPricesRecord extends OwnTerms {
  readonly id: string;
  /** Counts the own prices of the account, from 1. */
  readonly number: number;
  readonly setAt: Date;
}

/** Whether the terms are the general prices. */
export const areGeneral = ({ discount, fixed }: OwnTerms): boolean => discount === 0 && fixed.size === 0;

/** The own prices that the next payment of an account locks in. Undefined: it has none, and pays the general prices. */
export async function readOwnPrices(em: SqlEntityManager, accountId: string): Promise<OwnPricesRecord | undefined> {
  const newest = await readNewestOwn(em, accountId);
  return newest === undefined || areGeneral(newest) ? undefined : newest;
}

/** The own prices that were set last for an account. Undefined: none ever were. */
export async function readNewestOwn(em: SqlEntityManager, accountId: string): Promise<OwnPricesRecord | undefined> {
  const [newest] = await em.find(OwnPrices, { accountId }, { orderBy: { number: "desc" }, limit: 1 });
  if (newest === undefined) {
    return undefined;
  }
  const { id, number, discount, setAt } = newest;
  const prices = await em.find(OwnPrice, { ownPricesId: id }, { orderBy: { model: "asc" } });
  const fixed = new Map(prices.map(({ model, input, output }) => [model, { input, output }]));
  return { id, number, discount, fixed, setAt };
}

interface Dependencies {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Pick<Random, "uuid">;
}

/** Called in the transaction that sets own prices, which may run more than once. Throwing undoes it. */
type Alongside = (em: SqlEntityManager, before: OwnTerms | undefined) => Promise<void>;

/**
 * Sets an account's own prices. Money that came in before keeps its prices: the account's lock decides what came
 * before. The same terms as before set nothing, and `alongside` is not called. Throws ACCOUNT_NOT_FOUND.
 */
export async function setOwnPrices(
  { storage, clock, random }: Dependencies,
  { accountId, terms }: { readonly accountId: string; readonly terms: OwnTerms },
  alongside: Alongside,
): Promise<void> {
  await inTransaction(storage, async (em) => {
    if ((await em.findOne(Account, accountId, { lockMode: LockMode.PESSIMISTIC_WRITE })) === null) {
      throw failure(Reason.ACCOUNT_NOT_FOUND, `There is no account ${accountId}.`, { parameter: "account_id" });
    }
    const before = await readNewestOwn(em, accountId);
    if (before === undefined ? areGeneral(terms) : areSame(before, terms)) {
      return;
    }
    await alongside(em, before);
    const id = random.uuid();
    const { discount, fixed } = terms;
    const number = (before?.number ?? 0) + 1;
    await em.insert(OwnPrices, { id, accountId, number, discount, setAt: new Date(clock.now()) });
    if (fixed.size > 0) {
      await em.insertMany(
        OwnPrice,
        Array.from(fixed, ([model, { input, output }]) => ({ ownPricesId: id, model, input, output })),
      );
    }
  });
}

function areSame(one: OwnTerms, other: OwnTerms): boolean {
  const isSamePrice = ([model, { input, output }]: [string, { input: number; output: number }]) => {
    const price = other.fixed.get(model);
    return price?.input === input && price.output === output;
  };
  return one.discount === other.discount && one.fixed.size === other.fixed.size && [...one.fixed].every(isSamePrice);
}
