// The statements of the ledger on PostgreSQL. Each is atomic by itself. Rows are locked in the order
// slice, account, lot, and by id within a table.

import { withFreeMoney } from "../../../storage/entities/metering/lot.ts";
import { firstLots, freeMoney, spendingOrder } from "../spending-order.ts";
import { type Column, lineColumns, listNames, usageColumns } from "../usage-columns.ts";

/** A statement that the server plans once a connection, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A time as milliseconds since the epoch. */
const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

const lotColumns = `kind, priority, price_version_id, ${ms("lot.created_at")} as created_at, ${ms("lot.expires_at")} as expires_at`;

/** $1 core, $2 the lock that this process holds, $3 an epoch that is over. */
export const enterSql: Statement = {
  name: "enter",
  text: `
  insert into core (id, epoch, instance, beats, heartbeat_at)
  select $1, greatest(coalesce(max(epoch), 0), $3::int) + 1, $2, 1, now() from core where id = $1 returning epoch, beats`,
};

/**
 * $1 core, $2 its new epoch, $3 the lock that this process holds. Slices of epochs whose processes held the same lock: they
 * are dead. Those of any other epoch are its own until its heart stands still.
 */
export const adoptSql: Statement = {
  name: "adopt",
  text: `
  with mine as (
    select slice.id from slice join core on core.id = slice.core_id and core.epoch = slice.epoch
    where core_id = $1 and open and core.epoch < $2 and core.instance = $3 order by slice.id for update of slice)
  update slice set epoch = $2 from mine, lot where slice.id = mine.id and lot.id = slice.lot_id
  returning slice.id, slice.lot_id, slice.account_id, slice.granted, slice.spent, ${lotColumns}`,
};

/** $1 core, $2 its epoch, $3 the lock that this process holds. Forgets the epochs that it has taken over. */
export const forgetAdopted: Statement = {
  name: "forget adopted",
  text: "delete from core where id = $1 and epoch < $2 and instance = $3",
};

/** $1 core, $2 epoch, $3 the lock that this process holds. For a row that a failover into the past has lost. */
export const enterAgain: Statement = {
  name: "enter again",
  text: `
  insert into core (id, epoch, instance, beats, heartbeat_at) values ($1, $2, $3, 1, now())
  on conflict (id, epoch) do nothing`,
};

/** $1 core. The earlier epochs that the database knows, the newest first. */
export const epochsSql: Statement = {
  name: "epochs",
  text: `
  select id as "coreId", epoch, beats, instance, dead_beat is not distinct from beats as dead
  from core where id = $1 order by epoch desc limit 1000`,
};

/** $1 an id for a database that has none yet. */
export const identifySql: Statement = {
  name: "identify",
  text: `
  with made as (insert into setting (name, value) values ('database_id', $1) on conflict (name) do nothing returning value)
  select value from made union all select value from setting where name = 'database_id' limit 1`,
};

/** $1 core, $2 epoch, $3 account. */
export const accountSlices: Statement = {
  name: "account slices",
  text: `
  select id, account_id, granted - spent as unspent from slice
  where open and core_id = $1 and epoch = $2 and account_id = $3`,
};

/** $1 core, $2 epoch, $3 the account before the page, $4 slices after which the page ends with its account. */
export const slicePage: Statement = {
  name: "slice page",
  text: `
  with page as (
    select account_id from slice where open and core_id = $1 and epoch = $2 and account_id > $3
    order by account_id limit $4)
  select id, account_id, granted - spent as unspent from slice
  where open and core_id = $1 and epoch = $2 and account_id > $3
    and account_id <= (select account_id from page order by account_id desc limit 1)
  order by account_id`,
};

/** A core that others took for dead and that has not beaten since. */
const deadSql = "core.dead_beat is not distinct from core.beats";

/** $1 core, $2 epoch, $3 the last beat that was answered. No row: the epoch is over. */
export const heartbeatSql: Statement = {
  name: "heartbeat",
  text: `
  with mine as (select id, dead_beat from core where id = $1 and epoch = $2 for update),
  beat as (
    update core set beats = core.beats + 1, heartbeat_at = now() from mine
    where core.id = mine.id and core.epoch = $2 returning core.beats),
  other as (select id as "coreId", epoch, beats from core
    where (id, epoch) <> ($1, $2) and not (${deadSql}) order by id, epoch limit 10000)
  select beat.beats, coalesce(mine.dead_beat >= $3, false) as was_dead,
    coalesce((select json_agg(other) from other), '[]'::json) as others
  from mine, beat`,
};

/** $1 cores, $2 their epochs, $3 their beats. One that has beaten since is not taken for dead. */
export const burySql: Statement = {
  name: "bury",
  text: `
  with silent as (
    select core.id, core.epoch from core
    join unnest($1::uuid[], $2::int[], $3::int[]) as seen(id, epoch, beats) using (id, epoch, beats)
    order by core.id, core.epoch for update of core)
  update core set dead_beat = beats from silent where core.id = silent.id and core.epoch = silent.epoch`,
};

/** $1 accounts, $2 now, $3 lots an account. */
export const lockLots: Statement = {
  name: "lock lots",
  text: `
  select id from lot where ${withFreeMoney} and id = any(array(
    select page.id from unnest($1::uuid[]) as account(id), lateral (
      ${firstLots({ account: "account.id", now: "$2::timestamptz", limit: "$3::int" })}) page))
  order by id for update`,
};

/**
 * $1 accounts, $2 least, $3 most, $4 ids for new slices, $5 ids an account, $6 cores alive, $7 now, $8 core,
 * $9 epoch, $10 locked lots. A core takes what it needs, and in advance no more than its share of half of what is there, so that the
 * last of an account's money is not scattered over cores that do not need it.
 */
export const leaseSql: Statement = {
  name: "lease",
  text: `
  with wanted as (select * from unnest($1::uuid[], $2::bigint[], $3::bigint[]) with ordinality as t(account_id, least, most, n)),
  lots as (
    select lot.*, wanted.least, wanted.most, wanted.n, ${freeMoney} as available,
      row_number() over (partition by account_id order by ${spendingOrder}) as place
    from lot join wanted using (account_id)
    where lot.id = any($10::uuid[]) and ${withFreeMoney} and (expires_at is null or expires_at > $7)),
  queue as (
    select *, sum(available) over (partition by account_id order by place) - available as before,
      greatest(least, least(most, div(sum(available) over (partition by account_id), 2 * $6::int))) as target
    from lots where place <= $5::int),
  taken as (
    select queue.*, least(available, target - before)::bigint as amount, ($4::uuid[])[(n - 1) * $5::int + place] as slice_id
    from queue where before < target),
  leased as (update lot set leased = lot.leased + taken.amount from taken where lot.id = taken.id),
  made as (
    insert into slice (id, lot_id, account_id, core_id, epoch, granted, spent, open)
    select slice_id, id, account_id, $8::uuid, $9::int, amount, 0, true from taken where amount > 0 returning id)
  select slice_id as id, lot.id as lot_id, account_id, amount as granted, 0::bigint as spent, ${lotColumns}
  from taken as lot where amount > 0 order by account_id, place`,
};

/**
 * $1 accounts, $2 core, $3 now, $4 lots that are looked at, $5 epoch. Slices are looked at all: as many are open as cores have
 * leased lots, however many lots there are.
 */
export const factsSql: Statement = {
  name: "facts",
  text: `
  select account.id, ${ms("account.created_at")} as created_at, account.paid_total::text, account.debt::text,
    (coalesce(slices.paid, 0) + coalesce(paid.free, 0))::text as paid_left,
    coalesce(lots.free, 0)::text as unleased, coalesce(slices.elsewhere, 0)::text as elsewhere
  from account
  left join lateral (
    select sum(slice.granted - slice.spent) filter (where (slice.core_id, slice.epoch) <> ($2, $5)) as elsewhere,
      sum(slice.granted - slice.spent) filter (where lot.kind = 'paid') as paid
    from slice join lot on lot.id = slice.lot_id where slice.account_id = account.id and slice.open) slices on true
  left join lateral (
    select sum(${freeMoney}) as free from (
      ${firstLots({ account: "account.id", now: "$3::timestamptz", limit: "$4::int" })}) page) lots on true
  left join lateral (
    select sum(${freeMoney}) as free from (
      ${firstLots({ account: "account.id", now: "$3::timestamptz", limit: "$4::int", paid: true })}) page) paid on true
  where account.id = any($1::uuid[])`,
};

/** Parameters of a settlement: columns of usage, place and number of each line, columns of usage lines, core, epoch. */
const placesAt = usageColumns.length + 1;
const linesAt = placesAt + 2;
const coreAt = linesAt + lineColumns.length;
const arrays = (columns: readonly Column<never>[], first: number) =>
  columns.map(({ type }, at) => `$${first + at}::${type}[]`).join(", ");
const sliceIds = `$${linesAt + lineColumns.findIndex(({ property }) => property === "sliceId")}::uuid[]`;
/** Names that a row from parameters has, as they are stored. */
const toStored = ({ name, type }: Column<never>) => (type === "float8" ? `to_timestamp(${name} / 1000)` : name);

/**
 * A line's place is that of its charge, from 1. Answers with the places of the charges that were not stored; one that
 * was stored before, whose
 * reply was lost, is no less so because its slices have been closed since. What slices spent is the sum over the lines
 * that this statement stored, never over its input: a run may have been stored before.
 *
 * Slices are found by their ids alone, and looked at once they are locked: a planner that took the index of a core's
 * open slices instead would make the cost of a group grow with the number of accounts.
 */
export const settleSql: Statement = {
  name: "settle",
  text: `
  with charge as (
    select * from unnest(${arrays(usageColumns, 1)}) with ordinality as t(${listNames(usageColumns)}, n)),
  line as (
    select * from unnest($${placesAt}::int[], $${placesAt + 1}::int[], ${arrays(lineColumns, linesAt)})
      as t(n, seq, ${listNames(lineColumns)})),
  locked as (
    select id, open and core_id = $${coreAt} and epoch = $${coreAt + 1} as mine from slice where id = any(${sliceIds})
    order by id for update),
  fenced as (select n from line where slice_id not in (select id from locked where mine)),
  stored as (
    insert into usage (${listNames(usageColumns)}) select ${usageColumns.map(toStored).join(", ")}
    from charge where n not in (select n from fenced)
    on conflict do nothing returning request_id, run_id),
  fresh as (select charge.* from charge join stored using (request_id, run_id)),
  stored_line as (
    insert into usage_line (request_id, run_id, seq, ${listNames(lineColumns)})
    select fresh.request_id, fresh.run_id, seq, ${lineColumns.map(({ name }) => `line.${name}`).join(", ")}
    from line join fresh using (n) returning slice_id, cost),
  budgeted as (
    update budget_slice set spent = budget_slice.spent + sums.cost
    from (select budget_slice_id, sum(cost)::bigint as cost from fresh where budget_slice_id is not null group by 1) sums
    where budget_slice.id = sums.budget_slice_id
    returning budget_slice.budget_id, budget_slice.window_name, budget_slice.open, sums.cost),
  late_budget as (
    update budget set spent = budget.spent + sums.cost
    from (select budget_id, window_name, sum(cost)::bigint as cost from budgeted where not open group by 1, 2) sums
    where budget.id = sums.budget_id and budget.window_name = sums.window_name),
  spent as (
    update slice set spent = slice.spent + sums.cost
    from (select slice_id, sum(cost)::bigint as cost from stored_line group by slice_id) sums where slice.id = sums.slice_id),
  owing as (
    select id, sums.shortfall from account
    join (select account_id, sum(shortfall)::bigint as shortfall from fresh where shortfall > 0 group by account_id) sums
      on sums.account_id = account.id
    order by id for update of account),
  owed as (update account set debt = account.debt + owing.shortfall from owing where account.id = owing.id)
  select n::int, n in (select n from fenced)
    and not exists (select from usage where usage.request_id = charge.request_id and usage.run_id = charge.run_id) as fenced
  from charge where n not in (select n from fresh)`,
};

/** $1 slices, $2 amounts, $3 core, $4 epoch. */
export const giveBackSql: Statement = {
  name: "give back",
  text: `
  with part as (select * from unnest($1::uuid[], $2::bigint[]) as t(slice_id, amount)),
  mine as (
    select id, lot_id, amount from slice join part on part.slice_id = slice.id
    where open and core_id = $3 and epoch = $4 order by id for update of slice),
  smaller as (update slice set granted = slice.granted - mine.amount from mine where slice.id = mine.id),
  held as (select id from lot where id in (select lot_id from mine) order by id for update)
  update lot set leased = lot.leased - sums.amount
  from (select lot_id, sum(amount)::bigint as amount from mine group by lot_id) sums, held
  where lot.id = sums.lot_id and held.id = lot.id`,
};

/** Closes the slices that `mine` selects: their spending becomes the lot's, and the lot has the rest again. */
const closing = (name: string, mine: string): Statement => ({
  name,
  text: `
  with mine as (${mine}),
  closed as (update slice set open = false from mine where slice.id = mine.id returning slice.id),
  held as (select id from lot where id in (select lot_id from mine) order by id for update),
  settled as (
    update lot set leased = lot.leased - sums.granted, spent = lot.spent + sums.spent
    from (select lot_id, sum(granted)::bigint as granted, sum(spent)::bigint as spent from mine group by lot_id) sums, held
    where lot.id = sums.lot_id and held.id = lot.id)
  select id from closed`,
});

/** $1 slices, $2 core, $3 epoch. */
export const closeSql = closing(
  "close",
  `
  select id, lot_id, granted, spent from slice
  where id = any($1::uuid[]) and open and core_id = $2 and epoch = $3 order by id for update`,
);

/**
 * The dead are looked for among those who hold slices, with one step in the index for each. Their rows are locked, so
 * that one that comes back in this moment first learns that it was dead, and then sees what it has lost.
 */
export const reapSql = closing(
  "reap",
  `
  with recursive holder as (
    (select core_id from slice where open order by core_id limit 1)
    union all
    select (select core_id from slice where open and core_id > holder.core_id order by core_id limit 1)
    from holder where holder.core_id is not null)
  select slice.id, lot_id, granted, spent from slice join core on core.id = slice.core_id and core.epoch = slice.epoch
  where open and slice.core_id in (select core_id from holder) and ${deadSql}
  order by slice.id limit 1000 for update of slice skip locked for share of core`,
);

/** $1 request ids, $2 run ids. */
export const settledSql: Statement = {
  name: "settled",
  text: `
  select request_id, run_id, input_tokens, output_tokens, status from usage
  where (request_id, run_id) in (select * from unnest($1::text[], $2::uuid[]))`,
};

/** $1 account, $2 request id. */
export const isChargedSql: Statement = {
  name: "is charged",
  text: "select 1 from usage where request_id = $2 and account_id = $1 limit 1",
};
