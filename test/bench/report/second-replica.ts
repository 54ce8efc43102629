import type { Figure } from "../scenario.ts";
import type { Spread } from "./statistics.ts";
import type { Result } from "./summary.ts";

/**
 * What a second replica brings under each load, beside the part of the machine that one leaves idle: half of it idle is room for
 * twice as much. No budgets: how much room there is, the machine and its other programs decide.
 */
export function secondReplica(results: readonly Result[]): Figure[] {
  return results.flatMap((one) => {
    const two = results.find(({ system, name }) => system === "tollgate-replicas-2" && name === one.name);
    if (one.system !== "tollgate-replicas-1" || two === undefined) {
      return [];
    }
    const common = { scenario: one.cell.scenario, better: "higher" } as const;
    const value = over(rate(two), rate(one));
    return [
      { ...common, name: `${one.name}: throughput of two replicas`, unit: "× one replica", value },
      { ...common, name: `${one.name}: idle beside one replica`, unit: "of the machine", value: one.idle },
    ];
  });
}

function rate({ cell, tokensPerSecond, requestsPerSecond }: Result): Spread {
  return cell.stream ? tokensPerSecond : requestsPerSecond;
}

/** A quotient, and the farthest that it may be from it by the rounds of both. */
function over(of: Spread, by: Spread): Spread {
  return { median: of.median / by.median, min: of.min / by.max, max: of.max / by.min };
}
