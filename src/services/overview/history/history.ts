import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Storage } from "#src/storage/storage.ts";
import { estimateQuantile } from "../quantile.ts";
import type { Sample } from "../sampler.ts";
import { firstTokenMeasure, refusedMeasure } from "./measures.ts";

/** How spans are cut: at most so long, into pieces of a step, read from stored steps. */
const cuts = [
  { upToS: 3600, stepS: 60, storedS: 60 },
  { upToS: 86_400, stepS: 600, storedS: 60 },
];
/** How longer spans are cut. */
const coarsest = { stepS: 3600, storedS: 3600 };

const picoPerNano = 1000;
const hourS = 3600;

/** Samples of all cores together over a span up to now, oldest first; steps in which nothing happened are zero. */
export async function readSteps(
  storage: Storage,
  spanS: number,
  nowMs: number,
  serversCost: bigint | undefined,
): Promise<{ readonly stepS: number; readonly samples: Sample[] }> {
  const { stepS, storedS } = cuts.find(({ upToS }) => spanS <= upToS) ?? coarsest;
  const last = Math.floor(nowMs / 1000 / stepS);
  const first = last - Math.ceil(spanS / stepS) + 1;
  const each = stepS / storedS;
  const sql = `select at / ${each} as step, measure, sum(count) as count from service_step
    where seconds = ? and at >= ? group by at / ${each}, measure`;
  const rows: { step: number; measure: string; count: number | string }[] = await storage.orm.em
    .fork()
    .execute(sql, [storedS, first * each]);
  const steps = new Map<number, Map<string, number>>();
  for (const { step, measure, count } of rows) {
    const found = steps.get(Number(step)) ?? new Map<string, number>();
    steps.set(Number(step), found.set(measure, Number(count)));
  }
  const samples = Array.from({ length: last - first + 1 }, (_, index) => {
    const step = first + index;
    // The newest step is not over.
    const lengthS = step === last ? Math.max(1, nowMs / 1000 - step * stepS) : stepS;
    return toSample(step * stepS, lengthS, steps.get(step) ?? new Map(), serversCost);
  });
  return { stepS, samples };
}

function toSample(
  at: number,
  lengthS: number,
  measures: ReadonlyMap<string, number>,
  serversCost: bigint | undefined,
): Sample {
  const read = (measure: string) => measures.get(measure) ?? 0;
  const startingWith = (start: string) =>
    [...measures].flatMap(([measure, count]): [string, number][] =>
      measure.startsWith(start) ? [[measure.slice(start.length), count]] : [],
    );
  const buckets = startingWith(firstTokenMeasure)
    .map(([upTo, count]): [number, number] => [Number(upTo), count])
    .toSorted(([one], [other]) => one - other);
  const [p50, p99] = [estimateQuantile(buckets, 0.5), estimateQuantile(buckets, 0.99)];
  const refusals = startingWith(refusedMeasure).toSorted(([, one], [, other]) => other - one);
  return {
    at: timestampFromMs(at * 1000),
    inputTokensPerSecond: read("input_tokens") / lengthS,
    outputTokensPerSecond: read("output_tokens") / lengthS,
    requestsPerSecond: read("requests") / lengthS,
    refusals: refusals.map(([reason, count]) => ({ reason, requests: BigInt(count) })),
    ...(p50 !== undefined && { firstTokenP50Seconds: p50 }),
    ...(p99 !== undefined && { firstTokenP99Seconds: p99 }),
    inFlight: Math.round(read("in_flight_seconds") / lengthS),
    queued: Math.round(read("queued_seconds") / lengthS),
    earnedPicoUsdPerHour: BigInt(Math.round((read("cost_nano_usd") * hourS) / lengthS)) * BigInt(picoPerNano),
    ...(serversCost !== undefined && { serversPicoUsdPerHour: serversCost }),
  };
}
