import { longPrompt } from "../measure/cell.ts";
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

/** Sixteen clients with short plain requests: what an answer that comes whole costs beside the pass-through. */
const usualPlain = ({ cell }: Result) =>
  cell.scenario === "plain" &&
  cell.concurrency === 16 &&
  cell.size === 10 &&
  cell.prompt < 1000 &&
  cell.model === "eager";

const isPaced = ({ cell }: Result) => cell.model === "paced" && cell.stream;
const isPlain = ({ cell }: Result) => cell.scenario === "plain" && !cell.stream;
const isStream = ({ cell }: Result) => cell.scenario === "stream" && cell.stream;
const isLong = ({ cell }: Result) => cell.prompt === longPrompt;

/** A short answer as a stream: its request is a larger part of what it costs. */
const isShortStream = (result: Result) => result.cell.size === 10 && !isPaced(result);

/** The budgets of a request's cost. */
const budgets: readonly Budget[] = [
  {
    name: "CPU of a plain request, all in one",
    limit: 3,
    unit: "× raw",
    system: "tollgate",
    applies: (result) => isPlain(result) && !isLong(result),
    figure: (result) => result.ratio.median,
  },
  {
    name: "CPU of a plain request with a long prompt, all in one",
    limit: 2.5,
    unit: "× raw",
    system: "tollgate",
    applies: (result) => isPlain(result) && isLong(result),
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
    applies: (result) => isStream(result) && !isShortStream(result) && !isPaced(result),
    figure: (result) => result.ratio.median,
  },
  {
    name: "CPU of a streamed token of a short answer, all in one",
    limit: 2.2,
    unit: "× raw",
    system: "tollgate",
    applies: (result) => isStream(result) && isShortStream(result),
    figure: (result) => result.ratio.median,
  },
  {
    name: "CPU of a paced token, all in one",
    limit: 1.5,
    unit: "× raw",
    system: "tollgate",
    applies: isPaced,
    figure: (result) => result.ratio.median,
  },
  {
    name: "added time to first token, p50",
    limit: 1,
    unit: "ms",
    system: "tollgate",
    applies: isPaced,
    figure: (result, beside) => added(result.firstToken.p50.median, beside("pass-through")?.firstToken.p50.median),
  },
  {
    name: "added time to first token, p99",
    limit: 5,
    unit: "ms",
    system: "tollgate",
    applies: isPaced,
    figure: (result, beside) => added(result.firstToken.p99.median, beside("pass-through")?.firstToken.p99.median),
  },
  split("plain request", 2.5, (result) => !result.cell.stream && !isLong(result)),
  split("plain request with a long prompt", 3.5, (result) => !result.cell.stream && isLong(result)),
  split("streamed token", 1.7, ({ cell }) => cell.stream),
  {
    name: "resident memory with 1,000 open streams",
    limit: 220,
    unit: "MiB",
    system: "tollgate",
    applies: ({ cell }) => cell.scenario === "streams" && cell.concurrency === 1000,
    figure: (result) => result.resident.max / 2 ** 20,
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

/** What facade and core cost as two processes beside all in one. */
function split(what: string, limit: number, applies: Budget["applies"]): Budget {
  return {
    name: `CPU of a ${what}, facade and core apart`,
    limit,
    unit: "× all in one",
    system: "tollgate-split",
    applies: (result) => result.cell.scenario === "split" && applies(result),
    figure: (result, beside) => {
      const whole = beside("tollgate");
      return whole && result.cpu.median / whole.cpu.median;
    },
  };
}

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
