import type { Shown } from "./attack.ts";

/** What a customer met in one turn. */
export interface Turn {
  /** Milliseconds of each answer. */
  readonly times: readonly number[];
  /** The statuses of the answers that failed. 0: there was none. */
  readonly failed: readonly number[];
  /** What the process grew by. */
  readonly grownBytes: number;
  readonly cpuPercent: number;
}

/** An attack, and the quiet turn of the same process before it. */
export interface Judged {
  readonly name: string;
  readonly what: string;
  readonly quiet: Turn;
  readonly attacked: Turn;
  readonly shown: readonly Shown[];
  /** What each of them counted. */
  readonly counted: readonly number[];
}

/** The most MiB that a process may grow by under an attack. */
const mostMiB = 100;
/** How many times the quiet p99 an attacked one may be. */
const mostTimes = 3;
/** Milliseconds below which a p99 is as good as a quiet one. */
const leastMs = 50;

const partOf = ({ times }: Turn, part: number) => times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? 0;
const mebibytes = ({ grownBytes }: Turn) => grownBytes / 2 ** 20;

/** The bars that an attack misses. Empty: it is held. */
export function missedBars({ quiet, attacked, counted }: Judged): string[] {
  const most = Math.max(leastMs, mostTimes * partOf(quiet, 0.99));
  return [
    partOf(attacked, 0.99) > most ? "p99" : "",
    attacked.failed.length > 0 ? "failed" : "",
    mebibytes(attacked) > mostMiB ? "MiB" : "",
    counted.some((count) => count === 0) ? "unseen" : "",
  ].filter((bar) => bar !== "");
}

export const tableHead = [
  "| attack | what | p50 ms | p99 ms | quiet p99 ms | failed | MiB | CPU | seen in | bars |",
  "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
];

/** A row of the table of docs/security-tests.md. */
export function tableRow(judged: Judged): string {
  const { name, what, quiet, attacked, shown, counted } = judged;
  const cells = [
    name,
    what,
    partOf(attacked, 0.5).toFixed(0),
    partOf(attacked, 0.99).toFixed(0),
    partOf(quiet, 0.99).toFixed(0),
    `${attacked.failed.length} of ${attacked.times.length}${toList(attacked.failed)}`,
    mebibytes(attacked).toFixed(0),
    `${attacked.cpuPercent.toFixed(0)} %`,
    shown.map((one, at) => `${toText(one)}: ${counted[at]}`).join("; "),
    missedBars(judged).join(", ") || "held",
  ];
  return `| ${cells.join(" | ")} |`;
}

const toList = (statuses: readonly number[]) =>
  statuses.length === 0 ? "" : ` (${[...new Set(statuses)].join(", ")})`;
const toText = ({ metric, labels }: Shown) =>
  `\`${metric.replace("tollgate_", "")}\` ${Object.values(labels).map(lastPart).join(" ")}`;
const lastPart = (label: string) => label.slice(label.lastIndexOf("/") + 1);

/** A page with its table of attacks replaced. Throws where it has none. */
export function replaceTable(page: string, lines: readonly string[]): string {
  const table = /^\| attack .*\n(\|.*\n)+/m;
  if (!table.test(page)) {
    throw new Error("the page has no table of attacks");
  }
  return page.replace(table, () => `${lines.join("\n")}\n`);
}
