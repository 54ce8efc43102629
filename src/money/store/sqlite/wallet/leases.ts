import type { Random } from "#lib/ids/random.ts";
import type { PicoUsd } from "../../../model/interface.ts";
import type { VersionMark } from "../../../model/prices/version-marks.ts";
import { firstLots, freeMoney } from "../../../model/spending-order.ts";
import type { Lease, LeasedSlice, LeaseRequest } from "../../../model/store/wallet.ts";
import type { Epochs } from "../epochs.ts";
import type { Executor, Runner } from "../executor.ts";

/** Lots that one account leases from at once. More follow only when these are too small. */
const lotsAtOnce = 8;

const page = (which?: "paidFor") => firstLots({ account: "?1", now: "?2", limit: String(lotsAtOnce), which });

const nextLots = `
  select id, kind, priority, price_version_id as priceVersion, own_prices_id as ownPrices, created_at as createdAt, expires_at as expiresAt,
    ${freeMoney} as unleased from (${page()})`;

/** Texts, because sums may exceed 2^53 - 1, the largest integer that a number holds exactly. */
const factsSql = `
  select cast(coalesce((select sum(${freeMoney}) from (${page()})), 0) as text) as unleased,
    cast(coalesce((select sum(${freeMoney}) from (${page("paidFor")})), 0)
      + coalesce((select sum(slice.granted - slice.spent) from slice join lot on lot.id = slice.lot_id
          where slice.account_id = ?1 and slice.open and lot.kind in ('paid', 'credit')), 0) as text) as paidLeft,
    (select group_concat(distinct lot.id) from slice join lot on lot.id = slice.lot_id
      where slice.account_id = ?1 and slice.open and lot.kind = 'credit' and lot.expires_at is not null) as retired`;

const newestPricesSql = "select id as version, mark from price_version order by id desc limit 1";

interface LotRow {
  readonly id: string;
  readonly kind: LeasedSlice["kind"];
  readonly priority: number;
  readonly priceVersion: number;
  readonly ownPrices: string | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly unleased: number;
}

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
    return this.#executor.transaction((run) => {
      const leases = new Map<string, Lease>();
      for (const request of requests) {
        const lease = this.#lease(run, request, now);
        if (lease !== undefined) {
          leases.set(request.accountId, lease);
        }
      }
      return leases;
    });
  }

  #lease(run: Runner, { accountId, least, most }: LeaseRequest, now: number): Lease | undefined {
    const account = run.get<{ createdAt: number; paidTotal: string; debt: string }>(
      `select created_at as createdAt, cast(paid_total as text) as paidTotal, cast(debt as text) as debt
       from account where id = ?`,
      [accountId],
    );
    if (account === undefined) {
      return undefined;
    }
    const slices: LeasedSlice[] = [];
    let granted = 0;
    for (;;) {
      const lots = granted < most ? run.all<LotRow>(nextLots, [accountId, now]) : [];
      for (const lot of lots) {
        const amount = Math.min(lot.unleased, most - granted);
        if (amount > 0) {
          slices.push(this.#makeSlice(run, accountId, lot, amount));
        }
        granted += amount;
      }
      // These lots were too small: the next round takes the lots after them.
      if (lots.length < lotsAtOnce || granted >= least) {
        break;
      }
    }
    const facts = run.get<{ unleased: string; paidLeft: string; retired: string | null }>(factsSql, [accountId, now]);
    const { createdAt } = account;
    const debt = BigInt(account.debt);
    const [unleased, paidLeft] = [BigInt(facts?.unleased ?? 0), BigInt(facts?.paidLeft ?? 0)];
    const newestPrices = run.get<VersionMark>(newestPricesSql, []);
    const paidTotal = BigInt(account.paidTotal);
    const retired = facts?.retired?.split(",") ?? [];
    return { createdAt, paidTotal, paidLeft, slices, unleased, elsewhere: 0n, debt, retired, newestPrices };
  }

  #makeSlice(run: Runner, accountId: string, lot: LotRow, granted: PicoUsd): LeasedSlice {
    const id = this.#random.uuid();
    run.run("update lot set leased = leased + ? where id = ?", [granted, lot.id]);
    run.run(
      `insert into slice (id, lot_id, account_id, core_id, epoch, granted, spent, open)
       values (?, ?, ?, ?, ?, ?, 0, true)`,
      [id, lot.id, accountId, this.#core.coreId, this.#core.epoch, granted],
    );
    const { id: lotId, kind, priority, priceVersion, ownPrices, createdAt } = lot;
    const expiresAt = lot.expiresAt ?? undefined;
    return { id, lotId, accountId, kind, priority, priceVersion, ownPrices, createdAt, expiresAt, granted, spent: 0 };
  }
}
