import type { Figure } from "../scenario.ts";
import type { Spread } from "./statistics.ts";
import type { Result } from "./summary.ts";

/** A figure that is not what it was. */
export interface Change {
  readonly name: string;
  readonly system: string;
  readonly figure: string;
  readonly before: number;
  readonly after: number;
  /** The difference as a part of what it was. */
  readonly part: number;
  readonly worse: boolean;
  /** Whether the two runs' rounds overlap, so that chance may explain it. */
  readonly overlaps: boolean;
}

/** What is worth comparing. Ratios come first: they hold across machines and busy neighbours. */
const costsOf: Readonly<Record<string, (result: Result) => Spread>> = {
  "CPU against raw": (result) => result.ratio,
  CPU: (result) => result.cpu,
  "first token p50": (result) => result.firstToken.p50,
  "whole p50": (result) => result.whole.p50,
  resident: (result) => result.resident,
};

/** What two runs have to be compared. */
export interface Compared {
  readonly results: readonly Result[];
  readonly figures: readonly Figure[];
}

/** Figures that both runs have and that differ by more than a part, the largest first. */
export function compare(before: Compared, after: Compared, threshold: number): Change[] {
  const costs = after.results.flatMap((result) => {
    const earlier = before.results.find(
      ({ name, system, cell }) =>
        name === result.name && system === result.system && cell.scenario === result.cell.scenario,
    );
    if (!earlier) {
      return [];
    }
    const { name, system } = result;
    return Object.entries(costsOf).map(([figure, of]) => change({ name, system, figure }, of(earlier), of(result)));
  });
  const others = after.figures.flatMap(({ scenario, name, value, better }) => {
    const earlier = before.figures.find((figure) => figure.scenario === scenario && figure.name === name);
    return earlier ? [change({ name: scenario, system: "", figure: name }, earlier.value, value, better)] : [];
  });
  return [...costs, ...others]
    .filter(({ part }) => Math.abs(part) > threshold)
    .sort((a, b) => Math.abs(b.part) - Math.abs(a.part));
}

function change(
  what: Pick<Change, "name" | "system" | "figure">,
  old: Spread,
  now: Spread,
  better: Figure["better"] = "lower",
): Change {
  const part = now.median / old.median - 1;
  return {
    ...what,
    before: old.median,
    after: now.median,
    part,
    worse: better === "lower" ? part > 0 : part < 0,
    overlaps: now.min <= old.max && old.min <= now.max,
  };
}
