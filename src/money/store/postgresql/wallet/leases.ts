import type { Random } from "#lib/ids/random.ts";
import { withFreeMoney } from "#src/storage/entities/metering/lot-conditions.ts";
import { firstLots, freeMoney, spendingOrder } from "../../../model/spending-order.ts";
import type { Lease, LeasedSlice, LeaseRequest } from "../../../model/store/wallet.ts";
import { countEpoch, type Epochs } from "../epochs.ts";
import type { Executor, Query, Statement } from "../executor.ts";
import { lotColumns, ms, type SliceRow, toSlice } from "./slice-row.ts";

/** Lots that one account leases from at once. */
const lotsAtOnce = 8;
/** The most lots when they are so small that fewer are not enough. */
const mostLots = 512;

/** $1 accounts, $2 now, $3 lots for each account, $4 core, $5 epoch. */
const lockLots: Statement = {
  name: "lock lots",
  text: `
  select id, ${countEpoch("$4", "$5")} as own from lot where ${withFreeMoney} and id = any(array(
    select page.id from account, lateral (
      ${firstLots({ account: "account.id", now: "$2::timestamptz", limit: "$3::int" })}) page
    where account.id = any($1::uuid[])))
  order by id for update`,
};

/**
 * $1 accounts, $2 least, $3 most, $4 ids for new slices, $5 ids for each account, $6 cores alive, $7 now, $8 core, $9
 * epoch, $10 locked lots. A core takes what it needs. In advance it takes no more than its share of half of the money
 * there, so that the last of an account's money is not scattered over cores that do not need it.
 */
const leaseSql: Statement = {
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
 * $1 accounts, $2 core, $3 now, $4 lots to look at, $5 epoch. All open slices are looked at: there are as many as cores
 * have leased lots, however many lots there are.
 */
const factsSql: Statement = {
  name: "facts",
  text: `
  select account.id, ${ms("account.created_at")} as created_at, account.paid_total::text, account.debt::text,
    (coalesce(slices.paid, 0) + coalesce(paid.free, 0))::text as paid_left,
    coalesce(lots.free, 0)::text as unleased, coalesce(slices.elsewhere, 0)::text as elsewhere, slices.retired,
    prices.id as price_version, prices.mark as price_mark
  from account
  left join (select id, mark from price_version order by id desc limit 1) prices on true
  left join lateral (
    select sum(slice.granted - slice.spent) filter (where (slice.core_id, slice.epoch) <> ($2, $5)) as elsewhere,
      sum(slice.granted - slice.spent) filter (where lot.kind in ('paid', 'credit')) as paid,
      array_agg(distinct lot.id::text) filter (where lot.kind = 'credit' and lot.expires_at is not null) as retired
    from slice join lot on lot.id = slice.lot_id where slice.account_id = account.id and slice.open) slices on true
  left join lateral (
    select sum(${freeMoney}) as free from (
      ${firstLots({ account: "account.id", now: "$3::timestamptz", limit: "$4::int" })}) page) lots on true
  left join lateral (
    select sum(${freeMoney}) as free from (
      ${firstLots({ account: "account.id", now: "$3::timestamptz", limit: "$4::int", which: "paidFor" })}) page) paid on true
  where account.id = any($1::uuid[])`,
};

/** Leases money of accounts by making slices of their lots. */
export class Leases {
  readonly #executor: Executor;
  readonly #random: Random;
  readonly #core: Epochs;

  constructor(executor: Executor, random: Random, core: Epochs) {
    this.#executor = executor;
    this.#random = random;
    this.#core = core;
  }

  acquire(requests: readonly LeaseRequest[], now: number): Promise<Map<string, Lease>> {
    const accounts = requests.map((request) => request.accountId);
    const at = new Date(now);
    const { coreId, epoch } = this.#core;
    return this.#executor.transaction(async (query) => {
      const slices: LeasedSlice[] = [];
      // Requests whose first lots are too small get more lots, then more again.
      for (let lots = lotsAtOnce, wanting = requests; ; lots = Math.min(4 * lots, mostLots)) {
        slices.push(...(await this.#lease(query, wanting, at, lots)));
        const facts = await query<FactsRow>(factsSql, [accounts, coreId, at, lotsAtOnce, epoch]);
        const byAccount = Map.groupBy(slices, (slice) => slice.accountId);
        const leases = facts.map((row) => [row.id, toLease(row, byAccount.get(row.id) ?? [])] as const);
        const found = new Map(leases);
        wanting = requests.map((request) => lacking(request, found.get(request.accountId))).filter(wantsMore);
        if (wanting.length === 0 || slices.length >= mostLots) {
          return found;
        }
      }
    });
  }

  /** Leases from the first lots of each account. */
  async #lease(
    query: Query,
    requests: readonly LeaseRequest[],
    at: Date,
    lots: number,
  ): Promise<readonly LeasedSlice[]> {
    const accounts = requests.map((request) => request.accountId);
    // The first statement locks the lots, so that the next one sees their newest state.
    const { coreId, epoch } = this.#core;
    const locked = await query<{ id: string; own: number }>(lockLots, [accounts, at, lots, coreId, epoch]);
    await this.#core.ensure(query, locked[0]?.own ?? 1);
    const rows = await query<SliceRow>(leaseSql, [
      accounts,
      requests.map((request) => request.least),
      requests.map((request) => request.most),
      accounts.flatMap(() => Array.from({ length: lots }, () => this.#random.uuid())),
      lots,
      this.#core.cores,
      at,
      coreId,
      epoch,
      locked.map((lot) => lot.id),
    ]);
    return rows.map(toSlice);
  }
}

/** The unmet rest of a request. Undefined: nothing more can be met. */
function lacking(request: LeaseRequest, lease: Lease | undefined): LeaseRequest | undefined {
  const got = lease?.slices.reduce((sum, slice) => sum + slice.granted, 0) ?? 0;
  if (lease === undefined || lease.unleased === 0n || got >= request.least) {
    return undefined;
  }
  return { accountId: request.accountId, least: request.least - got, most: request.most - got };
}

const wantsMore = (request: LeaseRequest | undefined): request is LeaseRequest => request !== undefined;

interface FactsRow {
  readonly id: string;
  readonly created_at: number;
  readonly paid_total: string;
  readonly paid_left: string;
  readonly unleased: string;
  readonly elsewhere: string;
  readonly debt: string;
  readonly retired: readonly string[] | null;
  readonly price_version: number | null;
  readonly price_mark: string;
}

function toLease(row: FactsRow, slices: readonly LeasedSlice[]): Lease {
  return {
    createdAt: row.created_at,
    paidTotal: BigInt(row.paid_total),
    paidLeft: BigInt(row.paid_left),
    unleased: BigInt(row.unleased),
    elsewhere: BigInt(row.elsewhere),
    debt: BigInt(row.debt),
    retired: row.retired ?? [],
    newestPrices: row.price_version === null ? undefined : { version: row.price_version, mark: row.price_mark },
    slices,
  };
}
