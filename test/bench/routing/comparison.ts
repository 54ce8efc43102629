import type { Routing } from "#src/config/schema.ts";
import { type Outcome, policies, simulate } from "../../fleet/routing/simulation/simulate.ts";
import { assistants, chats, strangers } from "../../fleet/routing/simulation/workloads.ts";
import { barChart } from "../plots/bar-chart.ts";
import { type Spread, spread } from "../report/statistics.ts";
import type { Figure } from "../scenario.ts";

const servers = 8;

/** What comes to the fleet, and what happens to one of its servers in the middle third of the time. */
const loads = [
  { load: "multi-turn chats", workload: chats },
  { load: "shared system prompts", workload: assistants },
  { load: "random prompts", workload: strangers },
  { load: "chats, a server dies and returns", workload: chats, trouble: {} },
  { load: "chats, a server 10 × slower", workload: chats, trouble: { slower: 10 } },
] as const;

/** What came of a load under a policy, with each seed. */
export interface Comparison {
  readonly load: (typeof loads)[number]["load"];
  readonly routing: Routing;
  readonly outcomes: readonly Outcome[];
}

/** Every load under every policy, in virtual time: so many minutes, with so many seeds. */
export function compareRoutings(minutes: number, seeds: number): Comparison[] {
  return loads.flatMap(({ load, workload, ...rest }) => {
    const troubles =
      "trouble" in rest ? [{ ...rest.trouble, server: 2, from: minutes * 20_000, to: minutes * 40_000 }] : [];
    return policies.map((routing) => ({
      load,
      routing,
      outcomes: Array.from({ length: seeds }, (_, seed) =>
        simulate(routing, { workload, servers, minutes, troubles, seed }),
      ),
    }));
  });
}

type Measure = Exclude<keyof Outcome, "requests">;

const measures: Readonly<Record<Measure, { name: string; unit: string; better: Figure["better"]; factor: number }>> = {
  hitRate: { name: "prompt tokens found in the cache", unit: "%", better: "higher", factor: 100 },
  p50: { name: "first token p50", unit: "ms", better: "lower", factor: 1 },
  p99: { name: "first token p99", unit: "ms", better: "lower", factor: 1 },
  imbalance: { name: "work of the busiest server", unit: "× mean", better: "lower", factor: 1 },
};

/** The most that prefix routing may lose by looking at prompts that have nothing in common. */
const atRandom = 1.05;

/** How prefix routing must stand beside least load under a load. */
const budgets: readonly { load: Comparison["load"]; measure: Measure; limit: number }[] = [
  { load: "multi-turn chats", measure: "hitRate", limit: 2 },
  { load: "random prompts", measure: "p50", limit: atRandom },
  { load: "random prompts", measure: "p99", limit: atRandom },
  { load: "random prompts", measure: "imbalance", limit: atRandom },
];

/** The busiest server's work, as a multiple of the mean, that affinity may cost. */
const mostImbalance = 1.3;

/** Every measure under every load and policy, and what prefix routing must hold. */
export function comparisonFigures(comparisons: readonly Comparison[]): Figure[] {
  const figures = comparisons.flatMap((comparison) =>
    (Object.keys(measures) as Measure[]).map((measure): Figure => {
      const { name, unit, better } = measures[measure];
      const limited = measure === "imbalance" && comparison.routing === "prefix";
      return {
        ...{ scenario: "routing", name: `${comparison.load}, ${comparison.routing}: ${name}`, unit, better },
        value: spreadOf(comparison, measure),
        ...(limited && { limit: mostImbalance }),
      };
    }),
  );
  const ratios = budgets.flatMap(({ load, measure, limit }): Figure[] => {
    const of = (routing: Routing) => comparisons.find((one) => one.load === load && one.routing === routing)?.outcomes;
    const [prefix, leastLoad] = [of("prefix") ?? [], of("least-load") ?? []];
    const { name, better } = measures[measure];
    const value = spread(prefix.map((one, seed) => one[measure] / (leastLoad[seed]?.[measure] ?? Number.NaN)));
    return [{ scenario: "routing", name: `${load}: ${name}`, unit: "× least-load's", better, value, limit }];
  });
  return [...figures, ...ratios];
}

/** Bars for the cache and for the time to the first token. */
export function comparisonPlots(comparisons: readonly Comparison[]): Map<string, string> {
  const draw = (measure: Measure, title: string) =>
    barChart({
      title: `${title}, ${servers} simulated servers`,
      axis: `${measures[measure].name}, ${measures[measure].unit}`,
      groups: loads.map(({ load }) => ({
        label: load,
        bars: comparisons
          .filter((one) => one.load === load)
          .map((one) => {
            const { median: value, min, max } = spreadOf(one, measure);
            return { series: one.routing, value, min, max };
          }),
      })),
    });
  return new Map([
    ["routing/cache", draw("hitRate", "What each policy finds in the servers' caches")],
    ["routing/first-token", draw("p50", "How long callers wait under each policy")],
  ]);
}

function spreadOf({ outcomes }: Comparison, measure: Measure): Spread {
  return spread(outcomes.map((outcome) => outcome[measure] * measures[measure].factor));
}
