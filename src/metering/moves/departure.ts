import type { SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { budgetPeriods } from "../../storage/entities/api-key.ts";
import { withFreeMoney } from "../../storage/entities/metering/lot.ts";
import { moving } from "../../storage/moving.ts";
import type { Storage } from "../../storage/orm.ts";
import { inTransaction } from "../../storage/transaction.ts";
import { windowAt } from "../ledger/budget/budget-window.ts";
import { unavailable } from "../ledger/unavailable.ts";
import { freeMoney } from "../store/spending-order.ts";
import type { Departure, Move, Parcel } from "./interface.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** The most accounts that one look finds. */
const restsAtOnce = 100;

/** An account's lots with free money, lapsed or not. */
const freeLots = `lot where account_id = ? and ${withFreeMoney}`;

/** The rows of a table as JSON. */
const rows = (query: string) => `(select coalesce(jsonb_agg(to_jsonb(found)), '[]') from (${query}) found)`;

/** Every rate that these lots pay, for each model that was ever priced. Parameter: the account. */
const paidRates = `
  with recursive listed (model) as (
    select min(model) from price
    union all select (select min(model) from price where price.model > listed.model) from listed where model is not null)
  select versions.id as version, listed.model, price.input, price.output
  from (select distinct price_version_id as id from ${freeLots}) versions
  join listed on listed.model is not null
  join price on price.model = listed.model and price.version_id = coalesce(
    (select max(version_id) from price other where other.model = listed.model and other.version_id <= versions.id),
    (select min(version_id) from price other where other.model = listed.model and other.version_id > versions.id))`;

/** What an account's keys have spent in open windows. Parameters: the windows, the account three times. */
const budgetTotals = (windows: string) => `
  with windows (name, day, hour) as (values ${windows}),
  keys as (select coalesce(limits_of, id) as budget_id, id::text as key_id from api_key where account_id = ?),
  charged as (
    select budget_id, windows.name, sum(parts.cost) as cost from keys cross join windows cross join lateral (
      select cost_high * 1000000 + cost_low as cost from usage_rollup
      where account_id = ? and span = 'day' and slot >= windows.day and usage_rollup.key_id = keys.key_id
      union all select cost_high * 1000000 + cost_low from usage_tally
      where account_id = ? and hour >= windows.hour and usage_tally.key_id = keys.key_id) parts
    group by budget_id, windows.name),
  lent as (
    select budget_id, window_name as name, sum(spent) as cost from budget_slice
    where open and budget_id in (select budget_id from keys) group by budget_id, window_name)
  select budgets.id, windows.name, coalesce(budget.told, 0) as told, (
      greatest(coalesce(charged.cost, 0), coalesce(budget.spent, 0) + coalesce(lent.cost, 0)) + coalesce(budget.carried, 0)
    )::bigint as total
  from (select distinct budget_id as id from keys) budgets cross join windows
  left join budget on budget.id = budgets.id and budget.window_name = windows.name
  left join charged on charged.budget_id = budgets.id and charged.name = windows.name
  left join lent on lent.budget_id = budgets.id and lent.name = windows.name`;

/**
 * Whether money of the account's lots or budgets is leased and not spent, so that requests hold it or charges are on
 * their way. Parameters: the account twice.
 */
const leasedSql = `
  select exists (select from slice where account_id = ? and open and granted > spent)
    or exists (select from budget_slice where open and granted > spent
      and budget_id in (select id from api_key where account_id = ?)) as leased`;

/** The steps of a move in the database that the account leaves, in PostgreSQL. */
export function createDeparture(storage: Storage, clock: Pick<Clock, "now">): Departure {
  const now = () => new Date(clock.now());
  return {
    close: (move, until) =>
      inTransaction(storage, async (em) => {
        const [account] = await em.execute<{ move_id: string | null }[]>(
          "select move_id from account where id = ? for update",
          [move.accountId],
        );
        if (account === undefined) {
          throw failure(Reason.ACCOUNT_NOT_FOUND, "There is no such account.");
        }
        if (account.move_id === move.id) {
          return;
        }
        if (account.move_id !== null) {
          throw moving();
        }
        await em.execute("update account set move_id = ? where id = ?", [move.id, move.accountId]);
        await addMove(em, move, until, now());
      }),

    closeAgain: (move, until) =>
      inTransaction(storage, async (em) => {
        const [account] = await em.execute<{ move_id: string | null }[]>(
          "select move_id from account where id = ? for update",
          [move.accountId],
        );
        if (account !== undefined && (account.move_id ?? move.id) === move.id) {
          await em.execute("update account set move_id = ? where id = ?", [move.id, move.accountId]);
          await addMove(em, move, until, now());
        }
      }),

    leave: (move) => inTransaction(storage, (em) => leave(em, move, now())),

    async done({ id }) {
      await storage.orm.em
        .fork()
        .execute("update account_move set state = 'done', changed_at = ? where id = ? and state = 'sent'", [now(), id]);
    },

    async recall({ id }) {
      const [stored] = await storage.orm.em.fork().execute<StoredParcel[]>(parcelSql, [id]);
      return stored?.state === "done" && stored.payload !== null ? readParcel(stored) : undefined;
    },

    cancel: ({ id, accountId }) =>
      inTransaction(storage, async (em) => {
        await em.execute("select 1 from account where id = ? for update", [accountId]);
        const [move] = await em.execute<{ state: string }[]>("select state from account_move where id = ?", [id]);
        if (move?.state === "closing") {
          await em.execute("update account_move set state = 'cancelled', changed_at = ? where id = ?", [now(), id]);
          await em.execute("update account set move_id = null where id = ? and move_id = ?", [accountId, id]);
        }
        return move?.state === "sent" || move?.state === "done";
      }),

    async findRests() {
      const found = await storage.orm.em.fork().execute<{ id: string }[]>(
        `select account.id from account join account_move on account_move.id = account.move_id
         where account.move_id is not null and account_move.state = 'done' and (account.debt > 0 or exists (
           select from lot where lot.account_id = account.id and ${withFreeMoney})) order by 1 limit ${restsAtOnce}`,
      );
      return found.map(({ id }) => id);
    },

    leaveRest: (move) =>
      inTransaction(storage, async (em) => {
        const { accountId } = move;
        await em.execute("select 1 from account where id = ? for update", [accountId]);
        const moves = await em.execute<object[]>(
          "select 1 from account_move where account_id = ? and state in ('closing', 'sent') and not incoming",
          [accountId],
        );
        if (moves.length > 0) {
          return false;
        }
        await addMove(em, move, now(), now());
        await em.execute(`select id from ${freeLots} order by id for update`, [accountId]);
        await pack(em, move, now());
        await empty(em, move, now());
        return true;
      }),
  };
}

/**
 * Inserts a move that begins, or begins one again that was given up. Moves of an account are numbered by the database
 * that has the account and so knows its last move, unless the move has a number already.
 */
async function addMove(
  em: SqlEntityManager,
  { id, accountId, kind, generation, from, to }: Move,
  until: Date,
  now: Date,
): Promise<void> {
  await em.execute(
    `insert into account_move (id, account_id, kind, generation, from_shard, to_shard, incoming, state, money, debt, paid_total, until, changed_at)
     select ?, ?, ?, coalesce(nullif(?::int, 0), max(generation) + 1, 1), ?, ?, false, 'closing', 0, 0, 0, ?, ?
     from account_move where account_id = ? and kind = 'account'
     on conflict (id) do update set state = 'closing', changed_at = excluded.changed_at where account_move.state = 'cancelled'`,
    [id, accountId, kind, generation, from, to, until, now, accountId],
  );
}

interface StoredParcel {
  readonly generation: number;
  readonly state: string;
  readonly payload: string | null;
  readonly money: string;
  readonly debt: string;
  readonly paid: string;
}

const parcelSql =
  "select generation, state, payload, money::text, debt::text, paid_total::text as paid from account_move where id = ? for update";

async function leave(em: SqlEntityManager, move: Move, now: Date): Promise<Parcel | "leased" | "over"> {
  const { id, accountId } = move;
  await em.execute("select 1 from account where id = ? for update", [accountId]);
  const [before] = await em.execute<StoredParcel[]>(parcelSql, [id]);
  if (before?.state === "done") {
    return "over";
  }
  if (before?.state !== "closing") {
    return readParcel(before);
  }
  await em.execute(`select id from ${freeLots} order by id for update`, [accountId]);
  const [use] = await em.execute<{ leased: boolean }[]>(leasedSql, [accountId, accountId]);
  if (use?.leased) {
    return "leased";
  }
  await pack(em, move, now);
  await empty(em, move, now);
  const [after] = await em.execute<StoredParcel[]>(parcelSql, [id]);
  return readParcel(after);
}

function readParcel(stored: StoredParcel | undefined): Parcel {
  if (stored?.payload == null) {
    throw unavailable("The move was given up: the account stays where it is.");
  }
  const { generation, payload, money, debt, paid } = stored;
  return { generation, payload, money, debt, paidTotal: paid };
}

/** Notes everything that moves. */
async function pack(em: SqlEntityManager, { id, accountId, kind }: Move, now: Date): Promise<void> {
  const budgets = kind === "account" ? await readBudgets(em, accountId, now) : [];
  const whole = kind === "account";
  await em.execute(
    `update account_move set state = 'sent', changed_at = ?,
       money = (select coalesce(sum(${freeMoney}), 0) from ${freeLots}),
       debt = account.debt, paid_total = account.paid_total,
       payload = jsonb_build_object(
         ${whole ? `'account', to_jsonb(account), 'keys', ${rows("select * from api_key where account_id = account.id")},` : ""}
         'payments', ${rows("select * from payment where account_id = account.id")},
         'lots', ${rows(`select *, ${freeMoney} as carried from lot where account_id = account.id and ${withFreeMoney}`)},
         'rates', ${rows(paidRates)},
         'budgets', ?::jsonb)::text
     from account where account.id = ? and account_move.id = ?`,
    [now, accountId, accountId, JSON.stringify(budgets), accountId, id],
  );
}

/** Takes out everything that `pack` noted. */
async function empty(em: SqlEntityManager, { id, accountId }: Move, now: Date): Promise<void> {
  await em.execute(
    `insert into lot_move (move_id, lot_id, carried, refunded) select ?, id, ${freeMoney}, ${freeMoney} from ${freeLots}`,
    [id, accountId],
  );
  await em.execute(`update lot set refunded = refunded + (${freeMoney}) where account_id = ? and ${withFreeMoney}`, [
    accountId,
  ]);
  await em.execute("update account set debt = 0, paid_total = 0 where id = ?", [accountId]);
  await em.execute(
    `insert into budget (id, window_name, account_id, bound, prior, leased, spent, told, carried)
     select total.id, total.name, ?, 0, 0, 0, 0, total.told, -total.total
     from account_move, jsonb_to_recordset(payload::jsonb -> 'budgets') as total (id uuid, name text, told int, total bigint)
     where account_move.id = ?
     on conflict (id, window_name) do update set bound = 0, carried = budget.carried + excluded.carried`,
    [accountId, id],
  );
  await em.execute("update account_move set changed_at = ? where id = ?", [now, id]);
}

/** The spending of the account's budgets in open windows. Amounts are texts. */
async function readBudgets(em: SqlEntityManager, accountId: string, now: Date): Promise<object[]> {
  const windows = budgetPeriods.map((period) => windowAt(period, now.getTime()));
  const values = windows.map(() => "(?, ?::int, ?::int)").join(", ");
  const names = windows.flatMap(({ name, startsAt }) => [
    name,
    Math.floor(startsAt / dayMs),
    Math.floor(startsAt / hourMs),
  ]);
  const found = await em.execute<{ id: string; name: string; told: number; total: string }[]>(
    `select id, name, told, total::text from (${budgetTotals(values)}) totals where total <> 0`,
    [...names, accountId, accountId, accountId],
  );
  return found.map(({ id, name, told, total }) => ({ id, name, told, total }));
}
