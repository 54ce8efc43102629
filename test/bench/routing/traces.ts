import { existsSync } from "node:fs";
import { join } from "node:path";
import { card8B, card70B } from "../../fleet/routing/traces/batching-server.ts";
import { makeAgents, makeConversations } from "../../fleet/routing/traces/likeness.ts";
import { CacheAware, PrecisePrefix } from "../../fleet/routing/traces/peers.ts";
import { type Replay, type Replayed, replay } from "../../fleet/routing/traces/replay.ts";
import { readAgents, readConversations, type Trace } from "../../fleet/routing/traces/trace.ts";
import { barChart } from "../plots/bar-chart.ts";
import { type Spread, spread } from "../report/statistics.ts";
import type { Figure } from "../scenario.ts";

/** Times that conversations come faster than they were recorded, so that eight servers are nearly full. */
const speed = 4.4;
const agentsAtOnce = 110;

/** How messages between cores fare: as over a server in the same data centre, but for what is lost. */
const sharing = { delayMs: 5, lost: 0.01 };

/** The ways to choose a server: ours, and ports of others'. */
const routings = [
  { name: "prefix", routing: "prefix", cores: [1, 4, 8] },
  { name: "least-load", routing: "least-load", cores: [1] },
  { name: "SMG cache_aware", routing: (truth) => new CacheAware(truth), cores: [1] },
  { name: "llm-d precise", routing: (truth) => new PrecisePrefix(truth), cores: [1] },
] as const satisfies readonly {
  name: string;
  routing: Replay["routing"];
  cores: readonly number[];
}[];

/** What came of a trace under a way to choose, with each seed. */
export interface TraceOutcome {
  /** The trace. */
  readonly load: string;
  /** The way to choose, and the number of cores where there are several. */
  readonly way: string;
  readonly outcomes: readonly Replayed[];
}

/** What prefix routing on one core has to hold where a trace is recorded, in percent, milliseconds and multiples of the mean. */
const limits: Readonly<Record<string, Partial<Record<keyof typeof measures, number>>>> = {
  "recorded conversations": { good: 93.2, p99: 7500, imbalance: 1.3 },
  "recorded agents": { hits: 88, good: 81.5, p99: 30_000, imbalance: 1.3 },
  "recorded agents, accounts of their own": { good: 81.5, p99: 30_000, imbalance: 1.3 },
};

/** Replays conversations and agents' sessions; from a directory with the recorded ones, or made up in their likeness. */
export async function replayTraces(
  directory: string | undefined,
  quick: boolean,
  seeds: number,
): Promise<TraceOutcome[]> {
  const found: TraceOutcome[] = [];
  for (const load of [
    conversationLoad(directory, quick),
    agentLoad(directory, quick, false),
    agentLoad(directory, quick, true),
  ]) {
    for (const { name, routing, cores } of routings) {
      for (const count of cores) {
        const outcomes: Replayed[] = [];
        for (let seed = 1; seed <= seeds; seed++) {
          outcomes.push(
            await replay({
              ...load,
              servers: 8,
              routing,
              cores: count,
              seed,
              ...(count > 1 && { sharing }),
            }),
          );
        }
        found.push({ load: load.name, way: count === 1 ? name : `${name}, ${count} cores`, outcomes });
      }
    }
  }
  return found;
}

type Load = Omit<Replay, "servers" | "routing" | "cores" | "seed"> & { readonly name: string };

function conversationLoad(directory: string | undefined, quick: boolean): Load {
  const file = join(directory ?? "", "conversation_trace.jsonl");
  const isRecorded = directory !== undefined && existsSync(file);
  return {
    name: isRecorded ? "recorded conversations" : "made-up conversations",
    trace: isRecorded ? readConversations(file, speed) : makeConversations(speed, quick ? 0.3 : 1),
    card: card8B,
    good: { firstMs: 2000, eachMs: 50 },
    ...{ atOnce: 0, ms: 3_700_000 / speed, warmMs: 0 },
  };
}

/** Apart: each session is an account of its own, and finds nothing that others' prompts left. */
function agentLoad(directory: string | undefined, quick: boolean, apart: boolean): Load {
  const folder = join(directory ?? "", "agents");
  const isRecorded = directory !== undefined && existsSync(folder);
  const trace: Trace = isRecorded ? readAgents(folder, 400, apart) : makeAgents(quick ? 150 : 400, apart);
  return {
    name: `${isRecorded ? "recorded agents" : "made-up agents"}${apart ? ", accounts of their own" : ""}`,
    trace,
    card: card70B,
    good: { firstMs: 5000, eachMs: 100 },
    ...{ atOnce: agentsAtOnce, ms: quick ? 1_200_000 : 3_600_000, warmMs: quick ? 300_000 : 600_000 },
  };
}

const measures = {
  hits: { what: "prompt tokens found in the cache", unit: "%", better: "higher", factor: 100 },
  good: { what: "good requests", unit: "%", better: "higher", factor: 100 },
  p50: { what: "first token p50", unit: "ms", better: "lower", factor: 1 },
  p99: { what: "first token p99", unit: "ms", better: "lower", factor: 1 },
  imbalance: { what: "work of the busiest server", unit: "× mean", better: "lower", factor: 1 },
} as const;

const measureNames = Object.keys(measures) as (keyof typeof measures)[];

function measureAll(outcomes: readonly Replayed[], measure: keyof typeof measures): Spread {
  return spread(outcomes.map((one) => one[measure] * measures[measure].factor));
}

/** Hits, waits, good requests and balance under each way to choose. */
export function traceFigures(found: readonly TraceOutcome[]): Figure[] {
  return found.flatMap(({ load, way, outcomes }) =>
    measureNames.map((measure): Figure => {
      const { what, unit, better } = measures[measure];
      const limit = way === "prefix" ? limits[load]?.[measure] : undefined;
      return {
        ...{ scenario: "routing", name: `${load}, ${way}: ${what}`, unit, better },
        value: measureAll(outcomes, measure),
        ...(limit !== undefined && { limit }),
      };
    }),
  );
}

/** Bars for the cache, the good requests and the longest waits, ours beside others'. */
export function tracePlots(found: readonly TraceOutcome[]): Map<string, string> {
  const draw = (measure: keyof typeof measures, title: string) =>
    barChart({
      title,
      axis: `${measures[measure].what}, ${measures[measure].unit}`,
      groups: [...new Set(found.map(({ load }) => load))].map((label) => ({
        label,
        bars: found
          .filter(({ load }) => load === label)
          .map(({ way, outcomes }) => {
            const { median: value, min, max } = measureAll(outcomes, measure);
            return { series: way, value, min, max };
          }),
      })),
    });
  return new Map([
    ["routing/traces-cache", draw("hits", "What is found in the servers' caches")],
    ["routing/traces-good", draw("good", "Requests that are answered in time")],
    ["routing/traces-waits", draw("p99", "The longest waits")],
  ]);
}
