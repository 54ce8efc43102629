import { lineChart } from "../plots/line-chart.ts";
import type { Figure } from "../scenario.ts";
import type { Reading } from "./readings.ts";
import { floors, type Point, slope } from "./trend.ts";

/** What a soak has seen of one process. */
export interface Watched {
  readonly system: string;
  readonly part: string;
  readonly readings: readonly Reading[];
  /** Before the first request, and after the last one was answered. */
  readonly before: Reading;
  readonly after: Reading;
}

const mebibyte = 2 ** 20;
/** A stretch of a long soak is longer than the time between two full collections. */
const stretches = 10;

/** Seconds below which growth says nothing and is not judged. */
const shortest = 600;

/** How fast memory may seem to grow after the warm-up, in MiB an hour; at 25 requests a second 30 MiB are 350 bytes a request. */
const heapGrowth = 30;
const residentGrowth = 120;
/** Connections to servers and the store that are kept open. */
const handleGrowth = 150;

/** Growth of a process's memory after so many seconds of warm-up, and what it did not put away at the end. */
export function figuresOf({ system, part, readings, before, after }: Watched, warmUp: number): Figure[] {
  const name = (what: string) => `${system}, ${part}: ${what}`;
  const warm = readings.filter(({ at }) => at >= warmUp);
  const isLong = (warm.at(-1)?.at ?? 0) - (warm[0]?.at ?? 0) >= shortest;
  const series = (of: (reading: Reading) => number) => warm.map((reading): Point => [reading.at, of(reading)]);
  const growth = (of: (reading: Reading) => number, limit: number, what: string): Figure => {
    const floor = floors(series(of), stretches);
    const [whole, early, late] = [floor, floor.slice(0, stretches / 2), floor.slice(stretches / 2)].map(
      (points) => (slope(points) * 3600) / mebibyte,
    ) as [number, number, number];
    const value = { median: whole, min: Math.min(early, late), max: Math.max(early, late) };
    const figure = { scenario: "soak", name: name(what), unit: "MiB an hour", value, better: "lower" } as const;
    return isLong ? { ...figure, limit } : figure;
  };
  const count = (what: string, value: number, limit?: number, unit = ""): Figure =>
    single(name(what), value, limit, unit);
  return [
    growth(({ oldHeap }) => oldHeap, heapGrowth, "growth of the old heap"),
    growth(({ resident }) => resident, residentGrowth, "growth of resident memory"),
    count("resident memory at the end", (warm.at(-1)?.resident ?? 0) / mebibyte, undefined, "MiB"),
    count("handles more than before", after.handles - before.handles, handleGrowth),
    count("open files more than before", after.files - before.files, handleGrowth),
    count("requests never charged", after.uncharged, 0),
    count("requests, holds and charges unfinished when idle again", unfinishedOf(after), 0),
  ];
}

export function unfinishedOf({ unfinished }: Reading): number {
  return Object.values(unfinished).reduce((sum, value) => sum + value, 0);
}

/** A figure that is counted once. */
export function single(name: string, value: number, limit?: number, unit = ""): Figure {
  const spread = { median: value, min: value, max: value };
  return { scenario: "soak", name, unit, value: spread, better: "lower", ...(limit !== undefined && { limit }) };
}

/** Memory of every process over time. */
export function plotsOf(watched: readonly Watched[]): Map<string, string> {
  const chart = (title: string, of: (reading: Reading) => number) =>
    lineChart({
      title,
      xAxis: "minutes",
      yAxis: "MiB",
      series: watched.map(({ system, part, readings }) => ({
        name: `${system}, ${part}`,
        points: readings.map((reading) => [reading.at / 60, of(reading) / mebibyte] as const),
      })),
    });
  return new Map([
    ["soak-resident", chart("Resident memory during a soak", ({ resident }) => resident)],
    ["soak-heap", chart("Old heap during a soak", ({ oldHeap }) => oldHeap)],
  ]);
}
