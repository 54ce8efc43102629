import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { eventually } from "../../support/eventually.ts";
import { chat, type Exercised, startExercised, unknownModel } from "../exercise.ts";
import { type Scrape, scrape } from "../scrape.ts";

const { model } = chat;
let service: Exercised;
let scraped: Scrape;

beforeAll(async () => {
  service = await startExercised();
  scraped = await eventually("what the requests left open is closed", async () => {
    const now = await scrape(service.tollgate);
    const open = ["tollgate_http_requests_open", "tollgate_holds", "tollgate_settlement_backlog"];
    const isCounted = now.samples.has('tollgate_budget_left_usd{per="total"}');
    return isCounted && open.every((name) => now.samples.get(name) === 0) ? now : undefined;
  });
}, 60_000);

afterAll(async () => service?.[Symbol.asyncDispose](), 60_000);

const value = (sample: string) => scraped.samples.get(sample);

test("requests by method, code and reason", () => {
  const of = (code: string, reason: string) =>
    value(
      `tollgate_requests_total{method="tollgate.inference.v1.InferenceService/Generate",code="${code}",reason="${reason}"}`,
    );
  expect(of("OK", "")).toBe(1);
  expect(of("NotFound", "MODEL_NOT_FOUND")).toBe(1);
  expect(of("Unauthenticated", "UNAUTHENTICATED")).toBe(1);
  expect(
    value('tollgate_request_duration_seconds_count{method="tollgate.inference.v1.InferenceService/Generate"}'),
  ).toBe(3);
  expect(value('tollgate_http_responses_total{status="200"}')).toBe(2);
  expect(value('tollgate_http_responses_total{status="401"}')).toBe(1);
  expect(value("tollgate_http_requests_open")).toBe(0);
});

test("tokens, cost and times by model, as the client and the receipt say", () => {
  expect(value(`tollgate_tokens_total{model="${model}",kind="input"}`)).toBe(service.answered.input);
  expect(value(`tollgate_tokens_total{model="${model}",kind="output"}`)).toBe(service.answered.output);
  expect(value('tollgate_tokens_total{model="tollgate-sim/embedder",kind="input"}')).toBeGreaterThan(0);
  expect(value(`tollgate_cost_usd_total{model="${model}"}`)).toBeCloseTo(service.answered.costUsd, 12);
  expect(value(`tollgate_time_to_first_token_seconds_count{model="${model}"}`)).toBe(1);
  expect(value(`tollgate_inter_token_seconds_count{model="${model}"}`)).toBe(1);
});

test("money: settlements are in the store, nothing is held, the books add up", () => {
  expect(value('tollgate_settlements_total{status="completed"}')).toBe(2);
  expect(value("tollgate_settlement_commit_seconds_count")).toBeGreaterThan(0);
  expect(value("tollgate_holds")).toBe(0);
  expect(value("tollgate_held_usd")).toBe(0);
  expect(value("tollgate_settlement_backlog")).toBe(0);
  expect(value("tollgate_ledger_invariant_ok")).toBe(1);
  expect(value("tollgate_ledger_admits")).toBe(1);
  expect(value("tollgate_shortfall_usd_total")).toBe(0);
});

test("servers and prices", () => {
  const servers = [...scraped.samples].filter(([name]) => name.startsWith("tollgate_server_state{"));
  expect(servers.filter(([name, number]) => name.includes('state="healthy"') && number === 1)).toHaveLength(5);
  expect(value(`tollgate_price_usd_per_million_tokens{model="${model}",kind="input"}`)).toBe(0.2);
  expect(value(`tollgate_queue_length{model="${model}"}`)).toBe(0);
  expect(value("tollgate_ready")).toBe(1);
});

test("refusals are counted by the limit that refused, from 0 on, and budgets by what is spent of them", async () => {
  expect(value('tollgate_limit_refusals_total{limit="budget"}')).toBe(0);
  expect(value('tollgate_budget_crossings_total{percent="80"}')).toBe(0);
  const refusal = await service.post(
    "/v1/embeddings",
    { model: "tollgate-sim/embedder", input: "x" },
    { key: service.spentKey },
  );
  expect(refusal.status).toBe(429);
  const refused = 'tollgate_limit_refusals_total{limit="budget"}';
  const now = await eventually("it is counted", async () => {
    const found = (await scrape(service.tollgate)).samples.get(refused) ?? 0;
    return found > 0 ? found : undefined;
  });
  expect(now).toBe(1);
  expect(value('tollgate_budgets{per="month",percent="100"}')).toBe(0);
});

test("no label comes from a caller", () => {
  expect(scraped.text).not.toContain(unknownModel);
  expect(scraped.text).not.toContain(service.key);
});

test("an open stream is seen while it runs", async () => {
  const leave = new AbortController();
  const stream = await service.post(
    "/v1/chat/completions",
    { ...chat, max_tokens: 4000, stream: true },
    { signal: leave.signal },
  );
  expect(stream.status).toBe(200);
  const open = await eventually("the stream is seen", async () => {
    const found = await scrape(service.tollgate);
    return found.samples.get("tollgate_http_streams_open") === 1 ? found : undefined;
  });
  leave.abort();
  expect(open.samples.get("tollgate_holds")).toBe(1);
  expect(open.samples.get("tollgate_held_usd")).toBeGreaterThan(0);
  await eventually(
    "the stream is gone",
    async () => (await scrape(service.tollgate)).samples.get("tollgate_http_streams_open") === 0,
  );
});
