import type { MetricValue, Registry } from "prom-client";

/** Counts since the process started, over all models. */
export interface Totals {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Generations and embeddings that have ended. */
  readonly requests: number;
  /** Refused or failed ones, by reason. */
  readonly refusals: ReadonlyMap<string, number>;
  /** In USD, rounded. */
  readonly cost: number;
  /** A cumulative histogram of times to the first token: how many generations took at most `upTo` seconds. */
  readonly firstTokens: readonly (readonly [upTo: number, count: number])[];
}

/** Matches the methods that run a request. */
const runs = /\.(InferenceService\/Generate|EmbeddingsService\/Embed)$/;

type Value = MetricValue<string>;

/** Reads the counts from a core's metrics. Takes about 50 µs. */
export async function readTotals(registry: Registry): Promise<Totals> {
  const read = async (name: string): Promise<readonly Value[]> =>
    (await registry.getSingleMetric(name)?.get())?.values ?? [];
  const tokens = await read("tollgate_tokens_total");
  const requests = (await read("tollgate_requests_total")).filter(({ labels }) => runs.test(String(labels.method)));
  const refusals = new Map<string, number>();
  for (const { labels, value } of requests) {
    const reason = String(labels.reason ?? "");
    if (reason !== "") {
      refusals.set(reason, (refusals.get(reason) ?? 0) + value);
    }
  }
  return {
    inputTokens: sum(tokens.filter(({ labels }) => labels.kind === "input")),
    outputTokens: sum(tokens.filter(({ labels }) => labels.kind === "output")),
    requests: sum(requests),
    refusals,
    cost: sum(await read("tollgate_cost_usd_total")),
    firstTokens: addBuckets(await read("tollgate_time_to_first_token_seconds")),
  };
}

function sum(values: readonly Value[]): number {
  return values.reduce((total, { value }) => total + value, 0);
}

/** The buckets of a histogram, summed over all labels. */
function addBuckets(values: readonly Value[]): [number, number][] {
  const buckets = new Map<number, number>();
  for (const { labels, value } of values) {
    const { le } = labels as { readonly le?: string | number };
    if (le !== undefined) {
      const upTo = le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le);
      buckets.set(upTo, (buckets.get(upTo) ?? 0) + value);
    }
  }
  return [...buckets].sort(([one], [other]) => one - other);
}
