import type { Outcome, Settings } from "./simulate.ts";
import { simulate } from "./simulate.ts";

/** The totals of worlds of regions. */
interface Sum {
  worlds: number;
  requests: number;
  admitted: number;
  messages: number;
  entries: number;
  refusals: number;
  faults: number;
  events: number;
  wrong: number;
  wrongAtHome: number;
  wrongThoughHeard: number;
  violations: number;
  simulatedHours: number;
  quarantineMs: number;
  quarantined: number;
  proofAgeMs: number;
}

/** Lives worlds of regions, and reports those that break a promise. Returns how many promises were broken. */
export async function liveRegions(
  { first, seeds, until }: { readonly first: number; readonly seeds: number; readonly until: number },
  settings: Settings,
): Promise<number> {
  const sum: Sum = {
    ...{
      worlds: 0,
      requests: 0,
      admitted: 0,
      messages: 0,
      entries: 0,
      refusals: 0,
      faults: 0,
      events: 0,
      wrong: 0,
      wrongAtHome: 0,
      wrongThoughHeard: 0,
      violations: 0,
    },
    ...{ simulatedHours: 0, quarantineMs: 0, quarantined: 0, proofAgeMs: 0 },
  };
  for (let seed = first; seed < first + seeds && performance.now() < until; seed++) {
    const outcome = await simulate(seed, settings);
    add(sum, outcome);
    if (seeds === 1 || outcome.violations.length > 0) {
      console.log(outcome);
    }
    if (sum.worlds % 500 === 0) {
      console.log(sum);
    }
  }
  console.log({ ...sum, cpuSeconds: Math.round(process.cpuUsage().user / 1_000_000) });
  return sum.violations;
}

function add(sum: Sum, outcome: Outcome): void {
  sum.worlds++;
  for (const name of [
    "requests",
    "admitted",
    "messages",
    "entries",
    "refusals",
    "faults",
    "events",
    "wrong",
    "wrongAtHome",
    "wrongThoughHeard",
  ] as const) {
    sum[name] += outcome[name];
  }
  for (const name of ["quarantineMs", "quarantined", "proofAgeMs"] as const) {
    sum[name] = Math.max(sum[name], outcome[name]);
  }
  sum.violations += outcome.violations.length;
  sum.simulatedHours += outcome.simulatedMs / 3_600_000;
}
