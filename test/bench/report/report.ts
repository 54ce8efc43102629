import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { plots } from "../plots/plots.ts";
import type { Figure } from "../scenario.ts";
import { margin, type Verdict } from "./budgets.ts";
import type { Change } from "./compare.ts";
import type { Result } from "./summary.ts";
import { short, table } from "./table.ts";

/** A run, as it is kept. */
export interface Report {
  readonly date: string;
  readonly machine: string;
  readonly rounds: number;
  /** Seconds that each round measured. */
  readonly seconds: number;
  readonly results: readonly Result[];
  readonly figures: readonly Figure[];
  readonly verdicts: readonly Verdict[];
  /** What a reader of the figures has to know. */
  readonly notes: readonly string[];
}

/** Where it ran, in one line. */
export function machine(): string {
  const cores = cpus();
  return `${cores.length} × ${cores[0]?.model ?? "unknown"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, Node ${process.version}`;
}

/** One line for each load and system. */
export function resultTable(results: readonly Result[]): string {
  return table(
    [
      "load",
      "system",
      "CPU µs",
      "min–max",
      "× raw",
      "per s",
      "first p50",
      "p99 ms",
      "whole p50",
      "p99 ms",
      "MiB",
      "others",
    ],
    results.map(
      ({
        name,
        cell,
        system,
        cpu,
        ratio,
        requestsPerSecond,
        tokensPerSecond,
        firstToken,
        whole,
        resident,
        disturbance,
      }) => [
        name,
        system,
        short(cpu.median),
        `${short(cpu.min)}–${short(cpu.max)}`,
        short(ratio.median),
        short((cell.stream ? tokensPerSecond : requestsPerSecond).median),
        short(firstToken.p50.median),
        short(firstToken.p99.median),
        short(whole.p50.median),
        short(whole.p99.median),
        short(resident.median / 2 ** 20),
        `${Math.round(disturbance.max * 100)} %`,
      ],
    ),
  );
}

/** One line for each figure that is not the cost of a request. */
export function figureTable(figures: readonly Figure[]): string {
  return table(
    ["scenario", "figure", "median", "min–max", "unit"],
    figures.map(({ scenario, name, value, unit }) => [
      scenario,
      name,
      short(value.median),
      `${short(value.min)}–${short(value.max)}`,
      unit,
    ]),
  );
}

/** One line for each budget and load. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  return table(
    ["budget", "load", "limit", "measured", "", "margin"],
    verdicts.map((verdict) => [
      verdict.budget,
      verdict.cell,
      `${verdict.better === "lower" ? "≤" : "≥"} ${verdict.limit} ${verdict.unit}`,
      `${short(verdict.measured)} ${verdict.unit}`,
      verdict.held ? "held" : "MISSED",
      `${Math.round(margin(verdict) * 100)} %`,
    ]),
  );
}

/** One line for each figure that changed. */
export function changeTable(changes: readonly Change[]): string {
  if (changes.length === 0) {
    return "nothing changed by more than 5 %";
  }
  return table(
    ["load", "system", "figure", "before", "after", "change", "", ""],
    changes.map(({ name, system, figure, before, after, part, worse, overlaps }) => [
      name,
      system,
      figure,
      short(before),
      short(after),
      `${part > 0 ? "+" : ""}${Math.round(part * 100)} %`,
      worse ? "worse" : "better",
      overlaps ? "rounds overlap" : "",
    ]),
  );
}

/** Keeps the report and its plots, whose names may begin with a folder. The file is named after what was run. */
export function writeReport(directory: string, name: string, report: Report, drawn: ReadonlyMap<string, string>): void {
  const figures = join(directory, "figures");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${name}.json`), encode(report));
  for (const [plot, svg] of [...plots(report.results), ...drawn]) {
    const file = join(figures, `${plot}.svg`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, svg);
  }
}

/** A line for each entry of a list, so that files of several runs can be compared; numbers with more digits than they are good for. */
function encode(report: Report): string {
  const toText = (value: unknown) => JSON.stringify(value, shorten);
  const parts = Object.entries(report).map(([name, value]) => {
    const text = Array.isArray(value) ? `[\n${value.map(toText).join(",\n")}\n]` : toText(value);
    return `"${name}": ${text}`;
  });
  return `{\n${parts.join(",\n")}\n}\n`;
}

const shorten = (_: string, value: unknown) =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;

export function readReport(file: string): Report {
  return JSON.parse(readFileSync(file, "utf8"));
}
