import type { Options } from "./arguments.ts";
import type { Spread } from "./report/statistics.ts";
import type { Result } from "./report/summary.ts";
import type { System } from "./systems/interface.ts";

/** What a scenario gets to run with. */
export interface Bench {
  readonly options: Options;
  /** A directory of its own, which is gone after a run without errors. */
  readonly directory: string;
  /** Those of the named systems that the options leave in, and the peer if there is one. */
  systems(names: readonly string[]): readonly System[];
  /** Says where the run is, on standard error. */
  progress(line: string): void;
}

/** A figure that is not the cost of a request on a system: a rate, a part, a slope. */
export interface Figure {
  readonly scenario: string;
  /** What was measured and under which load; tells figures of a scenario apart. */
  readonly name: string;
  readonly unit: string;
  /** Over the rounds. */
  readonly value: Spread;
  readonly better: "lower" | "higher";
  /** The budget that the median must hold. */
  readonly limit?: number;
}

/** What a scenario found. */
export interface Findings {
  /** Costs of loads, judged by the budgets in budgets.ts and drawn by plots.ts. */
  readonly results?: readonly Result[];
  readonly figures?: readonly Figure[];
  /** SVG documents by file name without its ending. */
  readonly plots?: ReadonlyMap<string, string>;
  /** What a reader of the figures has to know, such as versions and what was left out. */
  readonly notes?: readonly string[];
}

/** A part of the benchmark that can be run by itself. */
export interface Scenario {
  readonly name: string;
  /** What it shows, in one line for the usage text. */
  readonly shows: string;
  /** Takes part in a run of everything unless it says so here. */
  readonly onlyNamed?: true;
  run(bench: Bench): Promise<Findings>;
}
