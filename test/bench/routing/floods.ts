import { type Flood, flood, type Met, usualFlood } from "../../fleet/routing/simulation/flood.ts";
import { spread } from "../report/statistics.ts";
import type { Figure } from "../scenario.ts";

/** What one account's flood does to the others, at the default settings. */
const floods: readonly { readonly name: string; readonly setting: Partial<Flood>; readonly limited?: true }[] = [
  { name: "no flood", setting: { times: 0.01 } },
  { name: "a flood of 24,000 tokens each", setting: {}, limited: true },
  { name: "a flood, four times of what can be read", setting: { times: 4 }, limited: true },
  { name: "a flood, others need four fifths", setting: { others: 0.8 }, limited: true },
  { name: "a flood of 100,000 tokens each", setting: { promptTokens: 100_000 } },
];

/** Milliseconds that the others may wait for their first token. */
const limits = { p50: 1000, p99: 15_000 } as const;

/** What came of a flood, with each seed. */
export interface Flooded {
  readonly name: string;
  readonly limited: boolean;
  readonly others: readonly Met[];
}

/** Every flood, in virtual time: so many minutes, with so many seeds. */
export async function measureFloods(minutes: number, seeds: number): Promise<Flooded[]> {
  const measured: Flooded[] = [];
  for (const { name, setting, limited = false } of floods) {
    const others: Met[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      others.push((await flood({ ...usualFlood, ...setting, minutes, seed })).others);
    }
    measured.push({ name, limited, others });
  }
  return measured;
}

/** How long the others waited, and what that may be. */
export function floodFigures(measured: readonly Flooded[]): Figure[] {
  return measured.flatMap(({ name, limited, others }) =>
    (["p50", "p99"] as const).map(
      (part): Figure => ({
        scenario: "routing",
        name: `${name}: others' first token ${part}`,
        unit: "ms",
        better: "lower",
        value: spread(others.map((one) => one[part])),
        ...(limited && { limit: limits[part] }),
      }),
    ),
  );
}
