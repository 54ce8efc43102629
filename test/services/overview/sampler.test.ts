import { expect, test } from "@jest/globals";
import { Counter, Histogram, Registry } from "prom-client";
import { countsSince, estimateQuantile } from "#src/services/overview/quantile.ts";
import { type Counted, Sampler } from "#src/services/overview/sampler.ts";
import { readTotals } from "#src/telemetry/metrics/read-totals.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";

const nothing: Counted = {
  inputTokens: 0,
  outputTokens: 0,
  requests: 0,
  refusals: new Map(),
  cost: 0,
  firstTokens: [],
};

function setUp() {
  const clock = new ManualClock();
  let counted = nothing;
  const sampler = new Sampler({
    ...{ clock, logger: silentLogger },
    count: async () => counted,
    servers: () => [],
    queued: () => 3,
    serversCost: () => 5n,
    lastProof: () => ({ at: 1000, ok: true }),
    countCores: async () => 2,
  });
  const second = async (facts: Partial<Counted> = {}) => {
    clock.advance(1000);
    counted = { ...counted, ...facts };
    await sampler.take();
  };
  return { sampler, second };
}

test("rates are of the last five seconds, earnings of the last minute", async () => {
  const { sampler, second } = setUp();
  await second();
  for (let i = 1; i <= 10; i++) {
    await second({ inputTokens: i * 100, outputTokens: i * 50, requests: i * 2, cost: i * 0.01 });
  }
  const leave = new AbortController();
  const { value = [] } = await sampler.watch(leave.signal).next();
  expect(value).toHaveLength(11);
  expect(value.at(-1)).toMatchObject({
    inputTokensPerSecond: 100,
    outputTokensPerSecond: 50,
    requestsPerSecond: 2,
    earnedPicoUsdPerHour: 36_000_000_000_000n,
    serversPicoUsdPerHour: 5n,
    queued: 3,
    booksOk: true,
  });
  for (let i = 0; i < 5; i++) {
    await second();
  }
  const { value: later = [] } = await sampler.watch(leave.signal).next();
  expect(later.at(-1)).toMatchObject({ inputTokensPerSecond: 0, requestsPerSecond: 0 });
});

test("refusals of the last minute, the most frequent first, and no older ones", async () => {
  const { sampler, second } = setUp();
  await second({ refusals: new Map([["TIMEOUT", 7]]) });
  await second({ refusals: new Map([["TIMEOUT", 8], ["RATE_LIMITED", 3]]) }); // biome-ignore format: one line a state
  const newest = async () => (await sampler.watch(AbortSignal.timeout(1000)).next()).value?.at(-1);
  expect((await newest())?.refusals).toEqual([
    { reason: "RATE_LIMITED", requests: 3n },
    { reason: "TIMEOUT", requests: 1n },
  ]);
  for (let i = 0; i < 60; i++) {
    await second();
  }
  expect((await newest())?.refusals).toEqual([]);
});

test("a watcher is shown what is kept, then each new sample, and leaves with its call", async () => {
  const { sampler, second } = setUp();
  for (let i = 0; i < 310; i++) {
    await second();
  }
  const leave = new AbortController();
  const watching = sampler.watch(leave.signal);
  expect((await watching.next()).value).toHaveLength(300);
  const next = watching.next();
  await second({ requests: 5 });
  expect((await next).value).toMatchObject([{ requestsPerSecond: 1 }]);
  const last = watching.next();
  leave.abort();
  expect((await last).done).toBe(true);
});

test.each([
  [0.5, 0.075],
  [0.99, 0.99],
  [1, 1],
])("the quantile %d lies within its bucket", (part, value) => {
  const before = [[0.05, 10], [0.1, 10], [1, 10], [Number.POSITIVE_INFINITY, 10]] as const; // biome-ignore format: a row
  const after = [[0.05, 10], [0.1, 110], [1, 110], [Number.POSITIVE_INFINITY, 110]] as const; // biome-ignore format: a row
  const wide = [[0.05, 10], [0.1, 10], [1, 110], [Number.POSITIVE_INFINITY, 110]] as const; // biome-ignore format: a row
  const counts = countsSince(before, part === 0.5 ? after : wide);
  expect(estimateQuantile(counts, part)).toBeCloseTo(part === 0.99 ? 0.991 : value, 3);
});

test("of nothing there is no quantile, and above the last bound it is that bound", () => {
  expect(estimateQuantile([], 0.5)).toBeUndefined();
  expect(estimateQuantile([[1, 0]], 0.5)).toBeUndefined();
  expect(estimateQuantile([[1, 0], [Number.POSITIVE_INFINITY, 4]], 0.5)).toBe(1); // biome-ignore format: a row
});

test("totals come from the metrics: runs alone are requests, and labels are summed", async () => {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  const tokens = new Counter({ name: "tollgate_tokens_total", help: "-", labelNames: ["model", "kind"], registers });
  tokens.inc({ model: "a", kind: "input" }, 5);
  tokens.inc({ model: "b", kind: "input" }, 6);
  tokens.inc({ model: "b", kind: "output" }, 7);
  tokens.inc({ model: "b", kind: "reasoning" }, 2);
  const labelNames = ["method", "code", "reason"];
  const requests = new Counter({ name: "tollgate_requests_total", help: "-", labelNames, registers });
  requests.inc({ method: "tollgate.inference.v1.InferenceService/Generate", code: "OK", reason: "" }, 3);
  requests.inc({ method: "tollgate.embeddings.v1.EmbeddingsService/Embed", code: "X", reason: "TIMEOUT" });
  requests.inc({ method: "tollgate.accounts.v1.AccountsService/GetAccount", code: "OK", reason: "" }, 9);
  const first = new Histogram({
    ...{ name: "tollgate_time_to_first_token_seconds", help: "-", labelNames: ["model"], buckets: [0.1, 1], registers },
  });
  first.observe({ model: "a" }, 0.05);
  first.observe({ model: "b" }, 0.5);
  expect(await readTotals(registry)).toEqual({
    inputTokens: 11,
    outputTokens: 7,
    requests: 4,
    refusals: new Map([["TIMEOUT", 1]]),
    cost: 0,
    firstTokens: [[0.1, 1], [1, 2], [Number.POSITIVE_INFINITY, 2]], // biome-ignore format: a row
  });
});
