import { existsSync } from "node:fs";
import { join } from "node:path";
import { card8B, card70B } from "../../fleet/routing/traces/batching-server.ts";
import { makeAgents, makeConversations } from "../../fleet/routing/traces/likeness.ts";
import { CacheAware, PrecisePrefix } from "../../fleet/routing/traces/peers.ts";
import { type Replay, type Replayed, replay } from "../../fleet/routing/traces/replay.ts";
import { readAgents, readConversations, type Trace } from "../../fleet/routing/traces/trace.ts";
import { spread } from "../report/statistics.ts";
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
] as const satisfies readonly { name: string; routing: Replay["routing"]; cores: readonly number[] }[];

/** What came of a trace under a way to choose, with each seed. */
export interface TraceOutcome {
  readonly name: string;
  readonly outcomes: readonly Replayed[];
}

/** Replays conversations and agents' sessions; from a directory with the recorded ones, or made up in their likeness. */
export async function replayTraces(
  directory: string | undefined,
  quick: boolean,
  seeds: number,
): Promise<TraceOutcome[]> {
  const found: TraceOutcome[] = [];
  for (const load of [conversationLoad(directory, quick), agentLoad(directory, quick)]) {
    for (const { name, routing, cores } of routings) {
      for (const count of cores) {
        const outcomes: Replayed[] = [];
        for (let seed = 1; seed <= seeds; seed++) {
          outcomes.push(
            await replay({ ...load, servers: 8, routing, cores: count, seed, ...(count > 1 && { sharing }) }),
          );
        }
        found.push({ name: `${load.name}, ${name}${count === 1 ? "" : `, ${count} cores`}`, outcomes });
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

function agentLoad(directory: string | undefined, quick: boolean): Load {
  const folder = join(directory ?? "", "agents");
  const isRecorded = directory !== undefined && existsSync(folder);
  const trace: Trace = isRecorded ? readAgents(folder, 400) : makeAgents(quick ? 150 : 400);
  return {
    name: isRecorded ? "recorded agents" : "made-up agents",
    trace,
    card: card70B,
    good: { firstMs: 5000, eachMs: 100 },
    ...{ atOnce: agentsAtOnce, ms: quick ? 1_200_000 : 3_600_000, warmMs: quick ? 300_000 : 600_000 },
  };
}

/** Hits, waits, good requests and balance under each way to choose. */
export function traceFigures(outcomes: readonly TraceOutcome[]): Figure[] {
  return outcomes.flatMap(({ name, outcomes: replayed }) => {
    const figure = (what: string, unit: string, better: Figure["better"], of: (one: Replayed) => number): Figure => ({
      ...{ scenario: "routing", name: `${name}: ${what}`, unit, better },
      value: spread(replayed.map(of)),
    });
    return [
      figure("prompt tokens found in the cache", "%", "higher", ({ hits }) => 100 * hits),
      figure("good requests", "%", "higher", ({ good }) => 100 * good),
      figure("first token p50", "ms", "lower", ({ p50 }) => p50),
      figure("first token p99", "ms", "lower", ({ p99 }) => p99),
      figure("work of the busiest server", "× mean", "lower", ({ imbalance }) => imbalance),
    ];
  });
}
