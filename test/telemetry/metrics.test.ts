import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";
import { type Scrape, scrape } from "./scrape.ts";

// The real program after a few requests: each metric says what happened.

const model = "tollgate-sim/plain";
const chat = { model, messages: [{ role: "user", content: "Tell me about toll gates." }], max_tokens: 40, seed: 7 };
let site: Site;
let tollgate: Tollgate;
let key: string;
let usage: { prompt_tokens: number; completion_tokens: number };
let cost: number;
let scraped: Scrape;

const post = (path: string, body: object, secret = key) =>
  fetch(`${tollgate.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify(body),
  });

beforeAll(async () => {
  site = await createSite();
  tollgate = await startTollgate(site, "serve", "--config", await site.configure(freePorts));
  const { id } = (await tollgate.admin("accounts", "create", "--name", "test")) as { id: string };
  ({ key } = (await tollgate.admin("keys", "create", id)) as { key: string });
  const plain = await post("/v1/chat/completions", chat);
  ({ usage } = (await plain.json()) as { usage: typeof usage });
  const receipt = await tollgate.admin("receipt", String(plain.headers.get("x-request-id")));
  cost = Number((receipt as { cost_usd: string }).cost_usd);
  await (await post("/v1/embeddings", { model: "tollgate-sim/embedder", input: ["one", "two"] })).text();
  await (await post("/v1/chat/completions", { ...chat, model: "of-somebody-elses" })).text();
  await (await post("/v1/chat/completions", chat, "tg-wrong")).text();
  await tollgate.admin("reconcile");
  scraped = await scrape(tollgate);
}, 60_000);

afterAll(async () => {
  await tollgate?.stop();
  await site?.remove();
}, 60_000);

const value = (sample: string) => scraped.samples.get(sample);

test("requests by method, code and reason", () => {
  const of = (code: string, reason: string) =>
    value(`tollgate_requests_total{method="inference.v1.InferenceService/Generate",code="${code}",reason="${reason}"}`);
  expect(of("OK", "")).toBe(1);
  expect(of("NotFound", "MODEL_NOT_FOUND")).toBe(1);
  expect(of("Unauthenticated", "UNAUTHENTICATED")).toBe(1);
  expect(value('tollgate_request_duration_seconds_count{method="inference.v1.InferenceService/Generate"}')).toBe(3);
  expect(value('tollgate_http_responses_total{status="200"}')).toBe(2);
  expect(value('tollgate_http_responses_total{status="401"}')).toBe(1);
  expect(value("tollgate_http_requests_open")).toBe(0);
});

test("tokens, cost and times by model, as the client and the receipt say", () => {
  expect(value(`tollgate_tokens_total{model="${model}",kind="input"}`)).toBe(usage.prompt_tokens);
  expect(value(`tollgate_tokens_total{model="${model}",kind="output"}`)).toBe(usage.completion_tokens);
  expect(value('tollgate_tokens_total{model="tollgate-sim/embedder",kind="input"}')).toBeGreaterThan(0);
  expect(value(`tollgate_cost_usd_total{model="${model}"}`)).toBeCloseTo(cost, 12);
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

test("no label comes from a caller", () => {
  expect(scraped.text).not.toContain("of-somebody-elses");
  expect(scraped.text).not.toContain(key);
});

test("an open stream is seen while it runs", async () => {
  const leave = new AbortController();
  const stream = await fetch(`${tollgate.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ ...chat, max_tokens: 4000, stream: true }),
    signal: leave.signal,
  });
  expect(stream.status).toBe(200);
  const open = await scrape(tollgate);
  leave.abort();
  expect(open.samples.get("tollgate_http_streams_open")).toBe(1);
  expect(open.samples.get("tollgate_holds")).toBe(1);
  expect(open.samples.get("tollgate_held_usd")).toBeGreaterThan(0);
  let left = open;
  while (left.samples.get("tollgate_http_streams_open") !== 0) left = await scrape(tollgate);
});
