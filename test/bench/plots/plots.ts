import type { Cell } from "../measure/cell.ts";
import type { Result } from "../report/summary.ts";
import { barChart } from "./bar-chart.ts";
import { lineChart } from "./line-chart.ts";

/** How a figure of a scenario grows with something that its cells vary. */
interface Growth {
  readonly plot: string;
  readonly scenario: string;
  readonly title: string;
  readonly xAxis: string;
  readonly x: (cell: Cell) => number;
  readonly yAxis: string;
  readonly y: (result: Result) => number;
}

const growths: readonly Growth[] = [
  {
    plot: "streams-memory",
    scenario: "streams",
    title: "Resident memory against open streams",
    xAxis: "open streams",
    x: ({ concurrency }) => concurrency,
    yAxis: "MiB",
    y: ({ resident }) => resident.median / 2 ** 20,
  },
  {
    plot: "streams-cpu",
    scenario: "streams",
    title: "CPU time of a token against open streams",
    xAxis: "open streams, a token a second each",
    x: ({ concurrency }) => concurrency,
    yAxis: "µs a token",
    y: ({ cpu }) => cpu.median,
  },
  {
    plot: "prompts",
    scenario: "prompts",
    title: "CPU time of a plain request against the size of its prompt",
    xAxis: "KB",
    x: ({ prompt }) => prompt / 1000,
    yAxis: "µs a request",
    y: ({ cpu }) => cpu.median,
  },
];

/** The plots of a run by name: how costs grow where a scenario is about that, else ratios as bars. */
export function plots(results: readonly Result[]): Map<string, string> {
  const drawn = new Map<string, string>();
  for (const scenario of new Set(results.map(({ cell }) => cell.scenario))) {
    const own = results.filter(({ cell }) => cell.scenario === scenario);
    const growing = growths.filter((growth) => growth.scenario === scenario);
    for (const growth of growing) {
      drawn.set(growth.plot, drawGrowth(growth, own));
    }
    if (growing.length === 0) {
      drawn.set(scenario, drawRatios(scenario, own));
    }
  }
  return drawn;
}

function drawGrowth({ title, xAxis, x, yAxis, y }: Growth, results: readonly Result[]): string {
  const systems = [...new Set(results.map(({ system }) => system))];
  return lineChart({
    title,
    xAxis,
    yAxis,
    series: systems.map((name) => ({
      name,
      points: results
        .filter(({ system }) => system === name)
        .map((result) => [x(result.cell), y(result)] as const)
        .sort(([a], [b]) => a - b),
    })),
  });
}

function drawRatios(scenario: string, results: readonly Result[]): string {
  return barChart({
    title: `${scenario}: CPU time against the bare pass-through`,
    axis: "CPU time of a request, or of a token of a stream, as a multiple of the bare pass-through's",
    groups: [...new Set(results.map(({ name }) => name))].map((label) => ({
      label,
      bars: results
        .filter(({ name }) => name === label)
        .map(({ system, ratio }) => ({ series: system, value: ratio.median, min: ratio.min, max: ratio.max })),
    })),
  });
}
