import type { Scenario } from "../scenario.ts";
import { compareRoutings, comparisonFigures, comparisonPlots } from "./comparison.ts";
import { floodFigures, measureFloods } from "./floods.ts";
import { replayTraces, traceFigures, tracePlots } from "./traces.ts";

/** What the ways to choose a server are worth, in virtual time. */
export const routing: Scenario = {
  name: "routing",
  shows: "cache hits, waits and balance under each way to choose a server, and what a flood does to others",
  async run({ options: { quick, rounds, traces }, progress }) {
    progress("simulating a fleet under each policy");
    const comparisons = compareRoutings(quick ? 1.5 : 5, rounds);
    progress("simulating floods");
    const floods = await measureFloods(quick ? 1 : 4, rounds);
    progress("replaying traces");
    const replayed = await replayTraces(traces, quick, rounds);
    return {
      figures: [...comparisonFigures(comparisons), ...floodFigures(floods), ...traceFigures(replayed)],
      plots: new Map([...comparisonPlots(comparisons), ...tracePlots(replayed)]),
    };
  },
};
