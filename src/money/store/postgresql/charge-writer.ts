import { dayMs } from "#lib/time/days.ts";
import type { Charge } from "../../model/charges/charge.ts";
import type { Run } from "../../model/charges/run.ts";
import type { SettleOutcome, StoredCharge } from "../../model/store/charge.ts";
import { keptFromDay } from "../kept-from.ts";
import { addSums, addToTally, sumNames, sumsOfReceipts } from "../rollups.ts";
import { type Column, lineColumns, listNames, usageColumns } from "../usage-columns.ts";
import type { Days } from "./days.ts";
import type { Epochs } from "./epochs.ts";
import type { Executor, Statement } from "./executor.ts";
import { settleValues } from "./values.ts";

/**
 * Parameters of a settlement: the columns of usage, charge and number of each line, the columns of usage lines, core,
 * epoch.
 */
const placesAt = usageColumns.length + 1;
const linesAt = placesAt + 2;
const coreAt = linesAt + lineColumns.length;
const arrays = (columns: readonly Column<never>[], first: number) =>
  columns.map(({ type }, at) => `$${first + at}::${type}[]`).join(", ");
const sliceIds = `$${linesAt + lineColumns.findIndex(({ property }) => property === "sliceId")}::uuid[]`;
/** A column of a row made from parameters, converted to its stored form. */
const toStored = ({ name, type }: Column<never>) => (type === "float8" ? `to_timestamp(${name} / 1000)` : name);

/**
 * A line names the place of its charge, from 1. Returns the places of the charges that were not stored now, and whether
 * each is fenced. What slices spent is the sum over the lines that this statement stored, never over its input: a run may
 * have been stored before.
 *
 * It reads no receipt: PostgreSQL 18 breaks off with all its connections when a statement that waited for a row's lock has
 * a plan that chooses among partitions. Which fenced charges were stored before is asked afterwards.
 *
 * A slice without room for its lines is fenced like one that is another core's: its charges are made anew. So is a charge
 * of a day that has an archive: its receipt would leave the books with the others and be nowhere.
 *
 * Slices are found by their ids alone, and checked once they are locked: a planner that took the index of a core's open
 * slices instead would make the cost of a group grow with the number of accounts.
 */
const settleSql = (name: string, further: string): Statement => ({
  name,
  text: `
  with charge as (
    select * from unnest(${arrays(usageColumns, 1)}) with ordinality as t(${listNames(usageColumns)}, n)),
  line as (
    select * from unnest($${placesAt}::int[], $${placesAt + 1}::int[], ${arrays(lineColumns, linesAt)})
      as t(n, seq, ${listNames(lineColumns)})),
  locked as (
    select id, open and core_id = $${coreAt} and epoch = $${coreAt + 1} as mine, granted - spent as room
    from slice where id = any(${sliceIds}) order by id for update),
  lost as (
    select n from line where slice_id not in (select id from locked where mine)
    union select n from charge where settled_at < ${keptFromDay}::float8 * ${dayMs}),
  short as (
    select id from locked join line on line.slice_id = locked.id
    where mine and n not in (select n from lost) group by id, room having sum(cost) > room),
  fenced as (select n from lost union select n from line where slice_id in (select id from short)),
  stored as (
    insert into usage (${listNames(usageColumns)}) select ${usageColumns.map(toStored).join(", ")}
    from charge where n not in (select n from fenced)
    on conflict do nothing returning request_id, run_id),
  fresh as (select charge.* from charge join stored using (request_id, run_id)),
  stored_line as (
    insert into usage_line (request_id, run_id, seq, ${listNames(lineColumns)})
    select fresh.request_id, fresh.run_id, seq, ${lineColumns.map(({ name }) => `line.${name}`).join(", ")}
    from line join fresh using (n) returning slice_id, cost),
  budget_cost as (
    select budget_slice_id as id, sum(cost)::bigint as cost from fresh where budget_slice_id is not null group by 1),
  locked_budget as (
    select id, cost from budget_slice join budget_cost using (id) order by id for update of budget_slice),
  budgeted as (
    update budget_slice set spent = budget_slice.spent + sums.cost
    from locked_budget sums where budget_slice.id = sums.id
    returning budget_slice.id, budget_slice.budget_id, budget_slice.window_name, budget_slice.open, sums.cost),
  late_cost as (
    select budget_id as id, window_name, sum(cost)::bigint as cost from budgeted where not open group by 1, 2),
  locked_late as (
    select id, window_name, cost from budget join late_cost using (id, window_name)
    order by id, window_name for update of budget),
  late_budget as (
    update budget set spent = budget.spent + sums.cost
    from locked_late sums where budget.id = sums.id and budget.window_name = sums.window_name),
  spent as (
    update slice set spent = slice.spent + sums.cost
    from (select slice_id, sum(cost)::bigint as cost from stored_line group by slice_id) sums where slice.id = sums.slice_id),
  owing as (
    select id, sums.shortfall from account
    join (select account_id, sum(shortfall)::bigint as shortfall from fresh where shortfall > 0 group by account_id) sums
      on sums.account_id = account.id
    order by id for update of account),
  owed as (update account set debt = account.debt + owing.shortfall from owing where account.id = owing.id),
  tallied as (
    insert into usage_tally (core_id, hour, account_id, key_id, model, ${sumNames.join(", ")}, unbudgeted)
    select $${coreAt}, floor(settled_at / 3600000)::int as hour, account_id, key_id, model, ${sumsOfReceipts},
      bool_or(budget_slice_id is null or budget_slice_id not in (select id from budgeted))
    from fresh group by 2, 3, 4, 5 order by 2, 3, 4, 5
    on conflict (core_id, hour, account_id, key_id, model) do update set ${addToTally})${further}
  select n::int, n in (select n from fenced) as fenced
  from charge where n not in (select n from fresh)`,
});
const noteEvents = `,
  event as (
    insert into usage_event (request_id, run_id, at)
    select request_id, run_id, to_timestamp(settled_at / 1000) from fresh on conflict do nothing)`;
const labelKey = "account_id, name, hour, value, key_id, model";
const sumLabels = `,
  labelled as (
    insert into usage_label (${labelKey}, core_id, ${sumNames.join(", ")})
    select account_id, label.key as name, floor(settled_at / 3600000)::int as hour, label.value, key_id, model,
      $${coreAt}::uuid, ${sumsOfReceipts}
    from fresh cross join lateral json_each_text(labels::json) label
    where labels is not null group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
    on conflict (${labelKey}, core_id) do update set ${addSums("usage_label")})`;

/** A settlement without what a group of charges does not need. */
const statements = {
  plain: settleSql("settle", ""),
  events: settleSql("settle with events", noteEvents),
  labels: settleSql("settle with labels", sumLabels),
  all: settleSql("settle with labels and events", sumLabels + noteEvents),
};

/** $1 request ids, $2 run ids. */
const settledSql: Statement = {
  name: "settled",
  text: `
  select request_id, run_id, input_tokens, output_tokens, cost, status from usage
  where (request_id, run_id) in (select * from unnest($1::text[], $2::uuid[]))`,
};

/** $1 account, $2 request id. */
const isChargedSql: Statement = {
  name: "is charged",
  text: "select 1 from usage where request_id = $2 and account_id = $1 limit 1",
};

interface StoredChargeRow {
  readonly request_id: string;
  readonly run_id: string;
  readonly input_tokens: string;
  readonly output_tokens: string;
  readonly cost: string;
  readonly status: StoredCharge["status"];
}

/** True when an error means that a charge can never be stored. */
export function isViolation(error: unknown): boolean {
  const state = String((error as { code?: unknown }).code);
  return /^(22|23|54)/.test(state); // impossible data, broken constraints, limits of the server exceeded
}

/** Stores charges, once each, and looks them up. */
export class ChargeWriter {
  readonly #executor: Executor;
  readonly #core: Epochs;
  readonly #days: Days;
  readonly #usageEvents: boolean;

  /** `usageEvents`: stored charges are noted for the receiver of usage events. */
  constructor(executor: Executor, core: Epochs, days: Days, usageEvents: boolean) {
    this.#executor = executor;
    this.#days = days;
    this.#core = core;
    this.#usageEvents = usageEvents;
  }

  async settle(group: readonly Charge[]): Promise<SettleOutcome[]> {
    // Of two charges of the same run in one group only the first is settled.
    const first = new Map<string, number>();
    for (const [at, charge] of group.entries()) {
      const key = charge.runId;
      if (!first.has(key)) {
        first.set(key, at);
      }
    }
    await this.#days.ensure([...first.keys()]);
    const outcomes = new Array<SettleOutcome>(group.length).fill("repeated");
    let places: readonly number[] = [...first.values()];
    while (places.length > 0) {
      places = await this.#settleSome(group, places, outcomes);
    }
    return outcomes;
  }

  /**
   * Settles the charges at places, and writes down what became of them. Those that were stored before, whose reply was
   * lost, are not fenced even if their slices were closed since. Returns the places to be settled once more: those of
   * charges that may have been fenced for the room that others only seemed to need.
   */
  async #settleSome(
    group: readonly Charge[],
    places: readonly number[],
    outcomes: SettleOutcome[],
  ): Promise<readonly number[]> {
    const charges = places.length === group.length ? group : places.map((at) => group[at] as Charge);
    const rows = await this.#executor.query<{ n: number; fenced: boolean }>(this.#choose(charges), [
      ...settleValues(charges),
      this.#core.coreId,
      this.#core.epoch,
    ]);
    for (const at of places) {
      outcomes[at] = "stored";
    }
    const fenced: number[] = [];
    for (const { n, fenced: isFenced } of rows) {
      const at = places[n - 1] as number;
      outcomes[at] = isFenced ? "fenced" : "repeated";
      if (isFenced) {
        fenced.push(at);
      }
    }
    if (fenced.length === 0) {
      return [];
    }
    const before = await this.settled(fenced.map((at) => group[at] as Charge));
    const others = fenced.filter((at) => !before.has((group[at] as Charge).runId.toLowerCase()));
    for (const at of fenced.filter((one) => !others.includes(one))) {
      outcomes[at] = "repeated";
    }
    return others.length < fenced.length ? others : [];
  }

  #choose(charges: readonly Charge[]): Statement {
    if (charges.some(({ labels }) => labels !== undefined)) {
      return this.#usageEvents ? statements.all : statements.labels;
    }
    return this.#usageEvents ? statements.events : statements.plain;
  }

  async settled(runs: readonly Run[]): Promise<Map<string, StoredCharge>> {
    const values = [runs.map(({ requestId }) => requestId), runs.map(({ runId }) => runId)];
    const rows = await this.#executor.query<StoredChargeRow>(settledSql, values);
    return new Map(rows.map((row) => [row.run_id, toStoredCharge(row)]));
  }

  async isCharged(accountId: string, requestId: string): Promise<boolean> {
    return (await this.#executor.query(isChargedSql, [accountId, requestId])).length > 0;
  }
}

function toStoredCharge(row: StoredChargeRow): StoredCharge {
  return {
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    cost: Number(row.cost),
    status: row.status,
  };
}
