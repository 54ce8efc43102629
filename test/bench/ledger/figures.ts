import { lineChart } from "../plots/line-chart.ts";
import { spread } from "../report/statistics.ts";
import type { Figure } from "../scenario.ts";
import type { Store } from "./databases.ts";
import type { LedgerLoad, LedgerMeasurement } from "./load.ts";

/** What a load on the ledger came to, turn by turn. */
export interface LedgerRun {
  readonly store: Store;
  readonly accounts: number;
  readonly load: LedgerLoad;
  readonly turns: readonly LedgerMeasurement[];
}

/** Accounts among which the load is spread where budgets are judged. */
export const usualAccounts = 1000;
/** Requests at once that fill a store without keeping any of them for long. */
export const fullSizes = 256;
/** Settlements a second that a store must take. */
export const rates: Readonly<Record<Store, number>> = { SQLite: 1500, PostgreSQL: 5000 };

/** A figure of a turn, with the limit that it has at the rate that the store must take. */
interface Aspect {
  readonly name: string;
  readonly unit: string;
  readonly of: (turn: LedgerMeasurement) => number;
  readonly limit?: number;
}

const perRequest = (name: string, unit: string, of: Aspect["of"]): Aspect => ({
  name,
  unit: `${unit} a request`,
  of: (turn) => of(turn) / turn.settled,
});

const paced: readonly Aspect[] = [
  { name: "hold p50", unit: "ms", of: ({ hold }) => hold.p50 },
  { name: "hold p99", unit: "ms", of: ({ hold }) => hold.p99, limit: 1 },
  { name: "acknowledgement p50", unit: "ms", of: ({ acknowledgement }) => acknowledgement.p50 },
  { name: "acknowledgement p99", unit: "ms", of: ({ acknowledgement }) => acknowledgement.p99, limit: 20 },
  { name: "holds that waited for the store", unit: "", of: ({ waited }) => waited, limit: 0 },
  perRequest("commits", "", ({ commits }) => commits),
  perRequest("round trips", "", ({ roundTrips }) => roundTrips),
];

/** Not of paced loads: where requests come one by one, it is mostly that of their making. */
const cpu: readonly Aspect[] = [
  perRequest("CPU of the event loop", "µs", ({ mainCpu }) => mainCpu),
  perRequest("CPU of other threads", "µs", ({ otherCpu }) => otherCpu),
  perRequest("CPU of the database server", "µs", ({ databaseCpu }) => databaseCpu),
];

const alone: readonly Aspect[] = [
  { name: "acknowledgement p50", unit: "ms", of: ({ acknowledgement }) => acknowledgement.p50 },
  { name: "acknowledgement p99", unit: "ms", of: ({ acknowledgement }) => acknowledgement.p99 },
];

/** Settlements that the store took a second. */
export const perSecond = ({ settled, duration }: LedgerMeasurement) => (settled / duration) * 1000;

/** Every figure that says something under its load. */
export function figuresOf(runs: readonly LedgerRun[]): Figure[] {
  return runs.flatMap((run) => aspectsOf(run).map((aspect) => figure(run, aspect)));
}

function aspectsOf({ store, accounts, load }: LedgerRun): Aspect[] {
  if ("rate" in load) {
    return [...paced];
  }
  if (load.atOnce === 1) {
    return [...alone, ...cpu];
  }
  if (load.atOnce !== fullSizes) {
    return [...cpu];
  }
  const settled = { name: "settled", unit: "/s", of: perSecond };
  return [accounts === usualAccounts ? { ...settled, limit: rates[store] } : settled, ...cpu];
}

function figure(run: LedgerRun, { name, unit, of, limit }: Aspect): Figure {
  return {
    scenario: "ledger",
    name: `${runName(run)}: ${name}`,
    unit: unit.trim(),
    value: spread(run.turns.map(of)),
    better: unit === "/s" ? "higher" : "lower",
    ...(limit === undefined ? {} : { limit }),
  };
}

/** Tells loads apart, for people and for comparisons with earlier runs. */
export function runName({ store, accounts, load }: Pick<LedgerRun, "store" | "accounts" | "load">): string {
  const what =
    "rate" in load ? `${load.rate}/s` : load.atOnce === fullSizes ? "as fast as it takes" : `${load.atOnce} at once`;
  return `${store}, ${accounts} ${accounts === 1 ? "account" : "accounts"}, ${what}`;
}

/** What grows with the number of accounts, and should not. */
export function plotsOf(runs: readonly LedgerRun[]): Map<string, string> {
  const full = runs.filter(({ load }) => "atOnce" in load && load.atOnce === fullSizes);
  const draw = (title: string, yAxis: string, y: (turn: LedgerMeasurement) => number) =>
    lineChart({
      ...{ title, xAxis: "accounts", yAxis },
      series: [...new Set(full.map(({ store }) => store))].map((name) => ({
        name,
        points: full
          .filter(({ store }) => store === name)
          .map(({ accounts, turns }) => [accounts, spread(turns.map(y)).median] as const),
      })),
    });
  const all = (turn: LedgerMeasurement) => (turn.mainCpu + turn.otherCpu + turn.databaseCpu) / turn.settled;
  return new Map([
    ["ledger-rate", draw("Settlements a second against accounts", "settled a second", perSecond)],
    ["ledger-cpu", draw("CPU time of a settlement against accounts, database included", "µs a settlement", all)],
  ]);
}
