import type { SqlEntityManager } from "@mikro-orm/sql";
import type { Random } from "../../../lib/ids/random.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { Account } from "../../storage/entities/account.ts";
import { ApiKey } from "../../storage/entities/api-key.ts";
import type { Storage } from "../../storage/orm.ts";
import { inTransaction } from "../../storage/transaction.ts";
import { payDebt } from "../books/debts.ts";
import { unavailable } from "../ledger/unavailable.ts";
import type { Arrival, Move, Parcel } from "./interface.ts";
import { findVersions } from "./move-prices.ts";

/** Dependencies. */
export interface ArrivalParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
}

/** The steps of a move in the database that the account moves to, in PostgreSQL. */
export function createArrival({ storage, clock, random }: ArrivalParts): Arrival {
  return {
    async mustTake(accountId) {
      const account = await storage.orm.em.fork().findOne(Account, accountId);
      if (account?.moveId === null) {
        throw unavailable(
          "The database that the account is to move to has it already, as one does that was restored to before the account left it: it is taken out there first.",
        );
      }
    },

    async hasCome({ id }) {
      const rows = await storage.orm.em.fork().execute("select 1 from account_move where id = ? and incoming", [id]);
      return rows.length > 0;
    },

    async arrive(move, parcel) {
      await inTransaction(storage, async (em) => {
        const now = new Date(clock.now());
        if (!(await addMove(em, move, parcel, now))) {
          return; // it has arrived before
        }
        if (move.kind === "account") {
          await putAccount(em, parcel.payload);
        } else {
          await em.execute(
            "update account set debt = debt + ?::bigint, paid_total = paid_total + ?::bigint where id = ?",
            [parcel.debt, parcel.paidTotal, move.accountId],
          );
        }
        await putPayments(em, parcel.payload);
        await putLots(em, move, parcel.payload, { now, random });
        await putBudgets(em, move, parcel.payload);
        const account = await em.findOneOrFail(Account, move.accountId);
        await payDebt(em, account, { clock, random });
      });
    },
  };
}

/** Returns whether the move is new here. */
async function addMove(em: SqlEntityManager, move: Move, parcel: Parcel, now: Date): Promise<boolean> {
  const { id, accountId, kind, from, to } = move;
  const added = await em.execute<object[]>(
    `insert into account_move (id, account_id, kind, generation, from_shard, to_shard, incoming, state, money, debt, paid_total, until, changed_at)
     values (?, ?, ?, ?, ?, ?, true, 'arrived', ?::bigint, ?::bigint, ?::bigint, ?, ?) on conflict (id) do nothing returning id`,
    [id, accountId, kind, parcel.generation, from, to, parcel.money, parcel.debt, parcel.paidTotal, now, now],
  );
  return added.length > 0;
}

/** Inserts the account with its keys, or updates an account that has been here before. */
async function putAccount(em: SqlEntityManager, payload: string): Promise<void> {
  const ofAccount = em
    .getMetadata()
    .get(Account)
    .props.flatMap((property) => property.fieldNames ?? []);
  const ofKey = em
    .getMetadata()
    .get(ApiKey)
    .props.flatMap((property) => property.fieldNames ?? []);
  await em.execute(
    `insert into account select (jsonb_populate_record(null::account, (?::jsonb -> 'account') || '{"move_id": null}')).*
     on conflict (id) do update set ${replaceAll(ofAccount, ["id", "debt", "paid_total"])},
       debt = account.debt + excluded.debt, paid_total = account.paid_total + excluded.paid_total`,
    [payload],
  );
  await em.execute(
    `insert into api_key select (jsonb_populate_recordset(null::api_key, ?::jsonb -> 'keys')).*
     on conflict (id) do update set ${replaceAll(ofKey, ["id"])}`,
    [payload],
  );
}

/** Sets every column but some to the value that was to be inserted. */
function replaceAll(fieldNames: readonly string[], without: readonly string[]): string {
  return fieldNames
    .filter((column) => !without.includes(column))
    .map((column) => `"${column}" = excluded."${column}"`)
    .join(", ");
}

/**
 * Payments are known here from now on, so that none is entered twice. Their money counts in the database where it came
 * in.
 */
async function putPayments(em: SqlEntityManager, payload: string): Promise<void> {
  await em.execute(
    `insert into payment select (jsonb_populate_record(null::payment, payment || '{"copied": true}')).*
     from jsonb_array_elements(?::jsonb -> 'payments') payment on conflict (id) do nothing`,
    [payload],
  );
}

/** A lot keeps its id and its rates. A lot that has been here before is filled again. */
async function putLots(
  em: SqlEntityManager,
  { id }: Move,
  payload: string,
  { now, random }: { readonly now: Date; readonly random: Random },
): Promise<void> {
  const lots = "jsonb_array_elements(?::jsonb -> 'lots') moved";
  const carried = "(moved ->> 'carried')::bigint";
  const here = "(select from lot where lot.id = (moved ->> 'id')::uuid)";
  await em.execute(
    `insert into lot_move (move_id, lot_id, carried, refunded)
     select ?, (moved ->> 'id')::uuid, ${carried},
       case when exists ${here} then -${carried} else (moved ->> 'granted')::bigint - ${carried} end from ${lots}`,
    [id, payload],
  );
  await em.execute(
    `update lot set refunded = lot.refunded + lot_move.refunded from lot_move where lot_move.move_id = ? and lot_move.lot_id = lot.id`,
    [id],
  );
  const versions = await findVersions(em, payload, { now, random });
  await em.execute(
    `with made as (
       insert into lot select (jsonb_populate_record(null::lot, moved || jsonb_build_object(
         'spent', 0, 'leased', 0, 'expired', 0, 'refunded', (moved ->> 'granted')::bigint - ${carried},
         'price_version_id', ?::jsonb -> (moved ->> 'price_version_id')))).*
       from ${lots} where not exists ${here} returning id, granted, payment_id)
     insert into lot_entry (id, lot_id, kind, amount, payment_id, at)
     select gen_random_uuid(), id, 'grant', granted, payment_id, ?::timestamptz from made`,
    [JSON.stringify(versions), payload, now],
  );
}

/** Counts here what keys have spent elsewhere in open windows. */
async function putBudgets(em: SqlEntityManager, { accountId }: Move, payload: string): Promise<void> {
  await em.execute(
    `insert into budget (id, window_name, account_id, bound, prior, leased, spent, told, carried)
     select total.id, total.name, ?, 0, 0, 0, 0, total.told, total.total
     from jsonb_to_recordset(?::jsonb -> 'budgets') as total (id uuid, name text, told int, total bigint)
     on conflict (id, window_name) do update
       set bound = 0, told = excluded.told, carried = budget.carried + excluded.carried`,
    [accountId, payload],
  );
}
