import { dayMs } from "#lib/time/days.ts";
import { keptFromDay } from "#src/money/store/kept-from.ts";
import { addSums, addToTally, foldable, foldInto, hourOf, sumNames, sumsOfReceipts } from "#src/money/store/rollups.ts";
import { addToSpans } from "#src/money/store/spans.ts";
import { lineColumns, listNames, usageColumns } from "#src/money/store/usage-columns.ts";
import { spendBudgets } from "./budgets.ts";
import { type Meaning, parseArray, type Tables } from "./statement.ts";

// Implements the statements about charges, like settlement.ts and tallies.ts of src/money/store/postgresql.

type Value = string | number | null;
type Row = Readonly<Record<string, Value>>;

const marks = (columns: readonly unknown[]) => columns.map(() => "?").join(", ");
const insertUsage = `
  insert into usage (${listNames(usageColumns)}) values (${marks(usageColumns)}) on conflict do nothing`;
const insertLine = `
  insert into usage_line (request_id, run_id, seq, ${listNames(lineColumns)}) values (?, ?, ?, ${marks(lineColumns)})`;

const tallyKey = "core_id, hour, account_id, key_id, model";

const tally = `
  insert into usage_tally (${tallyKey}, ${sumNames.join(", ")}, unbudgeted)
  select ?3, ${hourOf.sqlite("settled_at")} as hour, account_id, key_id, model, ${sumsOfReceipts},
    max(budget_slice_id is null or budget_slice_id not in (select id from budget_slice))
  from usage where request_id = ?1 and run_id = ?2 group by 2, 3, 4, 5
  on conflict (${tallyKey}) do update set ${addToTally}`;

const labelKey = "account_id, name, hour, value, key_id, model, core_id";

const sumLabels = `
  insert into usage_label (${labelKey}, ${sumNames.join(", ")})
  select account_id, label.key as name, ${hourOf.sqlite("settled_at")} as hour, label.value, key_id, model, ?3 as core_id,
    ${sumsOfReceipts}
  from usage, json_each(labels) label where request_id = ?1 and run_id = ?2 group by 1, 2, 3, 4, 5, 6
  on conflict (${labelKey}) do update set ${addSums("usage_label")}`;

const archived = `${keptFromDay} * ${dayMs}`;

const oldTallies = `from usage_tally where ${foldable("?1")} order by hour, ${tallyKey} limit ?2`;

/** Builds rows from parameters that each have one column. */
function toRows(
  columns: readonly { readonly property: string; readonly type: string }[],
  values: readonly unknown[],
): Row[] {
  const arrays = columns.map(({ type }, at) => parseArray(values[at], type));
  return (arrays[0] ?? []).map((_, row) =>
    Object.fromEntries(columns.map(({ property }, at) => [property, arrays[at]?.[row] ?? null])),
  );
}

interface Line extends Row {
  readonly charge: number;
  readonly seq: number;
}

function readLines(values: readonly unknown[]): Line[] {
  const first = usageColumns.length;
  const places = parseArray(values[first], "bigint");
  const seqs = parseArray(values[first + 1], "bigint");
  const rows = toRows(lineColumns, values.slice(first + 2));
  return rows.map((row, at) => ({ ...row, charge: Number(places[at]), seq: Number(seqs[at]) }));
}

const add = (sums: Map<string, number>, key: Value | undefined, cost: Value | undefined) => {
  if (key != null) {
    sums.set(String(key), (sums.get(String(key)) ?? 0) + Number(cost));
  }
};

/** The charges, by place, with lines of slices that are not this core's in this epoch, or have no room for them. */
function readFenced(
  tables: Tables,
  charges: readonly Row[],
  lines: readonly Line[],
  core: string,
  epoch: number,
): ReadonlySet<number> {
  const bySlice = Map.groupBy(lines, (line) => String(line.sliceId));
  const rooms = new Map<string, number>();
  for (const sliceId of bySlice.keys()) {
    const sql = "select granted - spent as room from slice where id = ? and open and core_id = ? and epoch = ?";
    const slice = tables.get<{ room: number }>(sql, sliceId, core, epoch);
    if (slice !== undefined) {
      rooms.set(sliceId, slice.room);
    }
  }
  const lost = new Set(lines.filter(({ sliceId }) => !rooms.has(String(sliceId))).map(({ charge }) => charge));
  const kept = tables.get<{ day: number }>(`select ${keptFromDay} as day`)?.day ?? 0;
  for (const [at, { settledAt }] of charges.entries()) {
    if (Number(settledAt) < kept * dayMs) {
      lost.add(at + 1);
    }
  }
  const sumOf = (some: readonly Line[]) => some.reduce((sum, { cost }) => sum + Number(cost), 0);
  const fenced = new Set(lost);
  for (const [sliceId, of] of bySlice) {
    const room = rooms.get(sliceId) ?? Number.POSITIVE_INFINITY;
    if (sumOf(of.filter(({ charge }) => !lost.has(charge))) > room) {
      for (const { charge } of of) {
        fenced.add(charge);
      }
    }
  }
  return fenced;
}

/** Stores charges. Answers with those that it did not store. `stored` gets those that it did. */
function settle(tables: Tables, values: readonly unknown[], stored: (charge: Row) => void) {
  const charges = toRows(usageColumns, values);
  const lines = readLines(values);
  const fenced = readFenced(tables, charges, lines, String(values.at(-2)), Number(values.at(-1)));
  const answer: { n: number; fenced: boolean }[] = [];
  const [spent, budgets, debts] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  for (const [at, charge] of charges.entries()) {
    const n = at + 1;
    const run = [charge.requestId as string, charge.runId as string] as const;
    if (fenced.has(n)) {
      answer.push({ n, fenced: true });
      continue;
    }
    if (tables.run(insertUsage, ...usageColumns.map(({ property }) => charge[property] ?? null)) === 0) {
      answer.push({ n, fenced: false });
      continue;
    }
    for (const line of lines.filter((one) => one.charge === n)) {
      tables.run(insertLine, ...run, line.seq, ...lineColumns.map(({ property }) => line[property] ?? null));
      add(spent, line.sliceId, line.cost);
    }
    tables.run(tally, ...run, String(values.at(-2)));
    stored(charge);
    add(budgets, charge.budgetSliceId, charge.cost);
    if (Number(charge.shortfall) > 0) {
      add(debts, charge.accountId, charge.shortfall);
    }
  }
  spendBudgets(tables, budgets);
  for (const [id, cost] of spent) {
    tables.run("update slice set spent = spent + ? where id = ?", cost, id);
  }
  for (const [id, shortfall] of debts) {
    tables.run("update account set debt = debt + ? where id = ?", shortfall, id);
  }
  return answer;
}

function noteEvent(tables: Tables, { requestId, runId, settledAt }: Row): void {
  tables.run(
    "insert into usage_event (request_id, run_id, at) values (?, ?, ?) on conflict do nothing",
    ...([requestId, runId, settledAt] as string[]),
  );
}

function countLabels(tables: Tables, { requestId, runId }: Row, core: unknown): void {
  tables.run(sumLabels, String(requestId), String(runId), String(core));
}

export const chargeStatements: Readonly<Record<string, Meaning>> = {
  settle: (tables, values) => settle(tables, values, () => {}),
  "settle with events": (tables, values) => settle(tables, values, (charge) => noteEvent(tables, charge)),
  "settle with labels": (tables, values) =>
    settle(tables, values, (charge) => countLabels(tables, charge, values.at(-2))),
  "settle with labels and events": (tables, values) =>
    settle(tables, values, (charge) => {
      countLabels(tables, charge, values.at(-2));
      noteEvent(tables, charge);
    }),

  "fold tallies"(tables, [before, most]) {
    const some = [Number(before), Number(most)] as const;
    const taken = `with taken as materialized (select * ${oldTallies})`;
    tables.run(`${taken} ${foldInto("taken")}`, ...some);
    tables.run(`${taken} ${addToSpans("taken")}`, ...some);
    const which = `(${tallyKey}) in (select ${tallyKey} ${oldTallies})`;
    return [{ folded: tables.run(`delete from usage_tally where ${which}`, ...some) }];
  },

  "unseen tallies": (tables, [limit]) =>
    tables
      .all<{ unbudgeted: number }>(
        `select core_id as "coreId", hour, account_id as "accountId", key_id as "keyId", model, requests, unbudgeted
         from usage_tally where not seen order by hour limit ?`,
        Number(limit),
      )
      .map((row) => ({ ...row, unbudgeted: row.unbudgeted === 1 })),

  "mark tallies as seen"(tables, columns) {
    const [cores, hours, accounts, keys, models, requests, budgets, windows, sums] = columns as (string | number)[][];
    const lost = (budgets ?? []).flatMap((id, at) =>
      tables
        .all<{ account: string }>(
          "select account_id as account from budget where id = ? and window_name = ? and spent_outside_slices <> ?",
          ...[String(id), String(windows?.[at]), Number(sums?.[at])],
        )
        .map(({ account }) => account),
    );
    for (const [at, core] of (cores ?? []).entries()) {
      if (lost.includes(String(accounts?.[at]))) {
        continue;
      }
      const key = [core, hours?.[at], accounts?.[at], keys?.[at], models?.[at], requests?.[at]] as string[];
      tables.run(
        `update usage_tally set seen = true
         where core_id = ? and hour = ? and account_id = ? and key_id = ? and model = ? and requests = ?`,
        ...key,
      );
    }
    return [];
  },

  archived: (tables) => tables.all(`select ${archived} as before`),

  "remove receipts"(tables, [most, from, to]) {
    const old = tables.all<{ request_id: string; run_id: string }>(
      `select request_id, run_id from usage where settled_at < ${archived} and (run_id < ? or run_id >= ?)
       order by settled_at limit ?`,
      ...[String(from), String(to), Number(most)],
    );
    for (const { request_id, run_id } of old) {
      tables.run("delete from usage_line where request_id = ? and run_id = ?", request_id, run_id);
      tables.run("delete from usage where request_id = ? and run_id = ?", request_id, run_id);
    }
    return [{ removed: old.length }];
  },

  settled: (tables, [requestIds, runIds]) =>
    (requestIds as string[]).flatMap((requestId, at) =>
      tables.all<object>(
        `select request_id, run_id, input_tokens, output_tokens, cost, status from usage where request_id = ? and run_id = ?`,
        ...[requestId, String((runIds as string[])[at])],
      ),
    ),

  "is charged": (tables, [account, request]) =>
    tables.all(
      `select 1 as "?column?" from usage where request_id = ? and +account_id = ? limit 1`,
      ...[String(request), String(account)],
    ),
};
