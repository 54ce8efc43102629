import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { createSite, freePorts, runTollgate, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// The main job, as a stranger would use it: the real program in its own process, real SDKs over real HTTP.

interface Receipt {
  request_id: string;
  input_tokens: number;
  output_tokens: number;
  cost_usd: string;
  status: string;
  lines: { input_usd_per_million: string; output_usd_per_million: string }[];
}

const model = "tollgate-sim/plain";
const messages = [{ role: "user" as const, content: "Tell me about toll gates." }];
let site: Site;
let tollgate: Tollgate;
let account: string;
let key: string;

beforeAll(async () => {
  site = await createSite();
  tollgate = await startTollgate(site, "serve", "--config", await site.configure(freePorts));
  ({ id: account } = (await tollgate.admin("accounts", "create", "--name", "test")) as { id: string });
  ({ key } = (await tollgate.admin("keys", "create", account)) as { key: string });
}, 60_000);

afterAll(async () => {
  await tollgate?.stop();
  await site?.remove();
});

const receiptOf = async (id: string | null | undefined) => (await tollgate.admin("receipt", String(id))) as Receipt;

test("the first start makes a demo account with free-tier credit", async () => {
  const accounts = (await tollgate.admin("accounts", "list")) as {
    name: string;
    balance_usd: string;
    free_only: boolean;
  }[];
  expect(accounts.find(({ name }) => name === "demo")).toMatchObject({ balance_usd: "1.00", free_only: true });
});

test("the newest openai client: plain, then the receipt has the tokens that it was told", async () => {
  const openai = new OpenAI({ baseURL: `${tollgate.url}/v1`, apiKey: key, maxRetries: 0 });
  const { data, response } = await openai.chat.completions.create({ model, messages, max_tokens: 40 }).withResponse();
  expect(data.choices[0]?.message.content).toMatch(/\w/);
  const receipt = await receiptOf(response.headers.get("x-request-id"));
  expect(receipt).toMatchObject({
    status: "completed",
    input_tokens: data.usage?.prompt_tokens,
    output_tokens: data.usage?.completion_tokens,
    lines: [{ input_usd_per_million: "0.20", output_usd_per_million: "0.25" }],
  });
});

test("the newest openai client: streamed, with usage at the end", async () => {
  const openai = new OpenAI({ baseURL: `${tollgate.url}/v1`, apiKey: key, maxRetries: 0 });
  const request = { model, messages, max_tokens: 40, stream: true, stream_options: { include_usage: true } } as const;
  const { data: stream, response } = await openai.chat.completions.create(request).withResponse();
  let text = "";
  let usage: OpenAI.CompletionUsage | null | undefined;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    usage = chunk.usage ?? usage;
  }
  expect(text).toMatch(/\w/);
  expect(await receiptOf(response.headers.get("x-request-id"))).toMatchObject({
    input_tokens: usage?.prompt_tokens,
    output_tokens: usage?.completion_tokens,
  });
});

test("the newest anthropic client: streamed, the same answer and charge", async () => {
  const anthropic = new Anthropic({ baseURL: tollgate.url, apiKey: key, maxRetries: 0 });
  const stream = anthropic.messages.stream({ model, messages, max_tokens: 40 });
  const message = await stream.finalMessage();
  expect(message.content[0]).toMatchObject({ type: "text", text: expect.stringMatching(/\w/) });
  expect(await receiptOf(stream.request_id)).toMatchObject({
    input_tokens: message.usage.input_tokens,
    output_tokens: message.usage.output_tokens,
  });
});

test("both clients get tool calls with parsed arguments", async () => {
  const schema = { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] };
  const openai = new OpenAI({ baseURL: `${tollgate.url}/v1`, apiKey: key, maxRetries: 0 });
  const chat = await openai.chat.completions.create({
    model,
    messages,
    tools: [{ type: "function", function: { name: "weather", parameters: schema } }],
    tool_choice: { type: "function", function: { name: "weather" } },
  });
  const call = chat.choices[0]?.message.tool_calls?.[0];
  expect(call).toMatchObject({ type: "function", function: { name: "weather" } });
  expect(chat.choices[0]?.finish_reason).toBe("tool_calls");
  const anthropic = new Anthropic({ baseURL: tollgate.url, apiKey: key, maxRetries: 0 });
  const message = await anthropic.messages.create({
    model,
    messages,
    max_tokens: 200,
    tools: [{ name: "weather", input_schema: schema }],
    tool_choice: { type: "tool", name: "weather" },
  });
  expect(message.stop_reason).toBe("tool_use");
  expect(message.content.at(-1)).toMatchObject({ type: "tool_use", name: "weather", input: expect.any(Object) });
});

test("embeddings arrive whole through the client's own base64", async () => {
  const openai = new OpenAI({ baseURL: `${tollgate.url}/v1`, apiKey: key, maxRetries: 0 });
  const { data } = await openai.embeddings.create({ model: "tollgate-sim/embedder", input: ["one", "two"] });
  expect(data.map(({ embedding }) => embedding.length)).toEqual([1024, 1024]);
});

test("kill -9 and restart keep accounts, keys, balances and receipts", async () => {
  const openai = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  const { response } = await openai(tollgate.url).chat.completions.create({ model, messages }).withResponse();
  const id = response.headers.get("x-request-id");
  const before = [
    await receiptOf(id),
    await tollgate.admin("accounts", "show", account),
    await tollgate.admin("keys", "list", account),
  ];
  expect(await tollgate.stop("SIGKILL")).toBeNull();
  tollgate = await startTollgate(site, "serve", "--config", `${site.folder}/tollgate.yaml`);
  const after = [
    await receiptOf(id),
    await tollgate.admin("accounts", "show", account),
    await tollgate.admin("keys", "list", account),
  ];
  expect(after.map(withoutLastUse)).toEqual(before.map(withoutLastUse));
  await openai(tollgate.url).chat.completions.create({ model, messages });
  expect(await tollgate.admin("reconcile")).toMatchObject({ ok: true });
}, 60_000);

/** When a key was last used is written once a minute, so it may be older after a crash. */
const withoutLastUse = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (name, item) => (name === "last_used_at" ? null : item)));

test("SIGTERM ends it with exit code 0", async () => {
  expect(await tollgate.stop("SIGTERM")).toBe(0);
}, 40_000);

test.each([
  ["an unknown field", { listen: { htp: "127.0.0.1:1" } }, /tollgate\.yaml:3: listen\.htp: .*http/],
  ["a wrong value", { fleet: { routing: "magic" } }, /tollgate\.yaml:3: fleet\.routing: .*least-load/],
])("a configuration with %s stops the start", async (_, config, message) => {
  const other = await createSite();
  try {
    const started = runTollgate(other, "serve", "--config", await other.configure(config));
    await expect(started).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
  } finally {
    await other.remove();
  }
});
