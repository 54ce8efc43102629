import type { Spread } from "./statistics.ts";
import type { Result } from "./summary.ts";

/** A figure that is not what it was. */
export interface Change {
  readonly name: string;
  readonly system: string;
  readonly figure: string;
  readonly before: number;
  readonly after: number;
  /** The difference as a part of what it was; positive is more cost or more time. */
  readonly part: number;
  /** Whether the two runs' rounds overlap, so that chance may explain it. */
  readonly overlaps: boolean;
}

/** What is worth comparing. Ratios come first: they hold across machines and busy neighbours. */
const figures: Readonly<Record<string, (result: Result) => Spread>> = {
  "CPU against raw": (result) => result.ratio,
  CPU: (result) => result.cpu,
  "first token p50": (result) => result.firstToken.p50,
  "whole p50": (result) => result.whole.p50,
  resident: (result) => result.resident,
};

/** Figures of loads that both runs have and that differ by more than a part, the largest first. */
export function compare(before: readonly Result[], after: readonly Result[], threshold: number): Change[] {
  const changes: Change[] = [];
  for (const result of after) {
    const earlier = before.find(
      ({ name, system, cell }) =>
        name === result.name && system === result.system && cell.scenario === result.cell.scenario,
    );
    if (!earlier) continue;
    for (const [figure, of] of Object.entries(figures)) {
      const [old, now] = [of(earlier), of(result)];
      const part = now.median / old.median - 1;
      if (Math.abs(part) > threshold)
        changes.push({
          name: result.name,
          system: result.system,
          figure,
          before: old.median,
          after: now.median,
          part,
          overlaps: now.min <= old.max && old.min <= now.max,
        });
    }
  }
  return changes.sort((a, b) => Math.abs(b.part) - Math.abs(a.part));
}
