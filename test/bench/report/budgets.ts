import type { Figure } from "../scenario.ts";
import type { Result } from "./summary.ts";

/** What a budget of the design came to under one load. */
export interface Verdict {
  readonly budget: string;
  readonly limit: number;
  readonly measured: number;
  readonly unit: string;
  /** Which side of the limit is the good one. */
  readonly better: "lower" | "higher";
  readonly held: boolean;
  /** The load, by name. */
  readonly cell: string;
}

/** A budget: the loads that it is about, and the figure that it limits, from the system's result and its neighbours'. */
interface Budget {
  readonly name: string;
  readonly limit: number;
  readonly unit: string;
  /** Default: lower. */
  readonly better?: "higher";
  readonly system: string;
  readonly applies: (result: Result) => boolean;
  readonly figure: (result: Result, beside: (system: string) => Result | undefined) => number | undefined;
}

/** Whether a system left so much of the machine that half as much again would fit beside its load. */
const hasRoom = ({ idle }: Result) => 1 / (1 - idle.median) >= 1.5;

/** Sixteen clients with short plain requests: what an answer that comes whole costs beside the pass-through. */
const usualPlain = ({ cell }: Result) =>
  cell.scenario === "plain" &&
  cell.concurrency === 16 &&
  cell.size === 10 &&
  cell.prompt < 1000 &&
  cell.model === "eager";

const paced = ({ cell }: Result) => cell.model === "paced" && cell.stream;

/** The budgets of a request's cost. */
const budgets: readonly Budget[] = [
  {
    name: "CPU of a plain request, all in one",
    limit: 3,
    unit: "× raw",
    system: "tollgate",
    applies: ({ cell }) => !cell.stream && cell.surface !== "embeddings" && cell.scenario === "plain",
    figure: (result) => result.ratio.median,
  },
  {
    name: "added time of a plain answer, p50",
    limit: 2.5,
    unit: "ms",
    system: "tollgate",
    applies: usualPlain,
    figure: (result, beside) => added(result.whole.p50.median, beside("pass-through")?.whole.p50.median),
  },
  {
    name: "added time of a plain answer, p99",
    limit: 6,
    unit: "ms",
    system: "tollgate",
    applies: usualPlain,
    figure: (result, beside) => added(result.whole.p99.median, beside("pass-through")?.whole.p99.median),
  },
  {
    name: "plain requests a second",
    limit: 0.35,
    unit: "× raw",
    better: "higher",
    system: "tollgate",
    applies: usualPlain,
    figure: (result, beside) => {
      const direct = beside("pass-through");
      return direct && result.requestsPerSecond.median / direct.requestsPerSecond.median;
    },
  },
  {
    name: "resident memory under plain load",
    limit: 220,
    unit: "MiB",
    system: "tollgate",
    applies: usualPlain,
    figure: (result) => result.resident.max / 2 ** 20,
  },
  {
    name: "CPU of a streamed token, all in one",
    limit: 2.5,
    unit: "× raw",
    system: "tollgate",
    applies: ({ cell }) => cell.stream && cell.scenario === "stream",
    figure: (result) => result.ratio.median,
  },
  {
    name: "added time to first token, p50",
    limit: 1,
    unit: "ms",
    system: "tollgate",
    applies: paced,
    figure: (result, beside) => added(result.firstToken.p50.median, beside("pass-through")?.firstToken.p50.median),
  },
  {
    name: "added time to first token, p99",
    limit: 5,
    unit: "ms",
    system: "tollgate",
    applies: paced,
    figure: (result, beside) => added(result.firstToken.p99.median, beside("pass-through")?.firstToken.p99.median),
  },
  {
    name: "CPU split into facade and core",
    limit: 1.7,
    unit: "× all in one",
    system: "tollgate-split",
    applies: ({ cell }) => cell.scenario === "split",
    figure: (result, beside) => {
      const whole = beside("tollgate");
      return whole && result.cpu.median / whole.cpu.median;
    },
  },
  {
    name: "throughput of two workers",
    limit: 1.5,
    unit: "× one worker",
    better: "higher",
    system: "tollgate-workers-2",
    applies: ({ cell }) => cell.scenario === "scaled-out",
    figure: (result, beside) => {
      const one = beside("tollgate-workers-1");
      const rate = ({ cell, tokensPerSecond, requestsPerSecond }: Result) =>
        (cell.stream ? tokensPerSecond : requestsPerSecond).median;
      return one && hasRoom(one) ? rate(result) / rate(one) : undefined;
    },
  },
  {
    name: "resident memory with 5,000 open streams",
    limit: 1024,
    unit: "MiB",
    system: "tollgate",
    applies: ({ cell }) => cell.scenario === "streams" && cell.concurrency === 5000,
    figure: (result) => result.resident.max / 2 ** 20,
  },
  {
    name: "new request among the open streams",
    limit: 3,
    unit: "× quiet",
    system: "tollgate",
    applies: ({ cell }) => cell.scenario === "streams",
    figure: ({ newcomer }) => newcomer && newcomer.beside.median / newcomer.quiet.median,
  },
];

function added(of: number, over: number | undefined): number | undefined {
  return over === undefined ? undefined : of - over;
}

/** Every budget under every load that was measured. */
export function judge(results: readonly Result[]): Verdict[] {
  return budgets.flatMap(({ name, limit, unit, better, system, applies, figure }) =>
    results
      .filter((result) => result.system === system && applies(result))
      .flatMap((result) => {
        const sameLoad = (other: Result) => other.name === result.name && other.cell.scenario === result.cell.scenario;
        const measured = figure(result, (name) => results.find((other) => other.system === name && sameLoad(other)));
        return measured === undefined || Number.isNaN(measured)
          ? []
          : [verdict({ budget: name, limit, measured, unit, better: better ?? "lower", cell: result.name })];
      }),
  );
}

/** Every figure that has a limit. */
export function judgeFigures(figures: readonly Figure[]): Verdict[] {
  return figures.flatMap(({ scenario, name, unit, value: { median: measured }, better, limit }) => {
    if (limit === undefined) {
      return [];
    }
    return [verdict({ budget: scenario, limit, measured, unit, better, cell: name })];
  });
}

function verdict(of: Omit<Verdict, "held">): Verdict {
  return { ...of, held: of.better === "lower" ? of.measured <= of.limit : of.measured >= of.limit };
}

/** How far a figure stays on the good side of its limit, as a part of the limit; negative on the other side. */
export function margin({ measured, limit, better }: Verdict): number {
  if (measured === limit) {
    return 0;
  }
  const above = measured / limit - 1;
  return better === "lower" ? -above : above;
}
