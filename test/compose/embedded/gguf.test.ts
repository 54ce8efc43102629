import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { writeChatModel, writeEmbeddingModel } from "../../../scripts/tiny-gguf.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../../support/tollgate.ts";

// The whole path over a real llama.cpp, with models of random weights: SDK, facade, core, engine, receipt.

let site: Site;
let tollgate: Tollgate | undefined;

beforeEach(async () => {
  site = await createSite();
});

afterEach(async () => {
  await tollgate?.stop();
  await site.remove();
});

async function serve(write: (path: string) => void): Promise<OpenAI> {
  const file = join(site.folder, "tiny.gguf");
  write(file);
  tollgate = await startTollgate(site, "serve", "--gguf", file, "--config", await site.configure(freePorts));
  const [account] = (await tollgate.admin("accounts", "list")) as { id: string }[];
  const { key } = (await tollgate.admin("keys", "create", String(account?.id))) as { key: string };
  return new OpenAI({ baseURL: `${tollgate.url}/v1`, apiKey: key, maxRetries: 0 });
}

test("a streamed chat ends in a receipt with the engine's count", async () => {
  const openai = await serve(writeChatModel);
  const request = { model: "tiny", messages: [{ role: "user" as const, content: "Hello" }], max_tokens: 24, seed: 1 };
  const stream = await openai.chat.completions
    .create({ ...request, stream: true, stream_options: { include_usage: true } })
    .withResponse();
  let usage: OpenAI.CompletionUsage | null | undefined;
  let pieces = 0;
  for await (const chunk of stream.data) {
    usage = chunk.usage ?? usage;
    pieces++;
  }
  expect(pieces).toBeGreaterThan(3);
  expect(usage?.completion_tokens).toBeGreaterThan(0);
  expect(usage?.completion_tokens).toBeLessThanOrEqual(24);
  expect(await tollgate?.admin("receipt", String(stream.response.headers.get("x-request-id")))).toMatchObject({
    status: "completed",
    input_tokens: usage?.prompt_tokens,
    output_tokens: usage?.completion_tokens,
  });
  // The same prompt again, plain: the tokenizer counts the same.
  const plain = await openai.chat.completions.create(request);
  expect(plain.usage?.prompt_tokens).toBe(usage?.prompt_tokens);
  expect(await tollgate?.admin("reconcile")).toMatchObject({ ok: true });
}, 60_000);

test("embeddings have unit length and are billed on input alone", async () => {
  const openai = await serve(writeEmbeddingModel);
  const { data, response } = await openai.embeddings.create({ model: "tiny", input: ["one", "two"] }).withResponse();
  expect(data.data.map(({ embedding }) => Math.hypot(...embedding))).toEqual([
    expect.closeTo(1, 3),
    expect.closeTo(1, 3),
  ]);
  expect(await tollgate?.admin("receipt", String(response.headers.get("x-request-id")))).toMatchObject({
    input_tokens: data.usage.prompt_tokens,
    output_tokens: 0,
  });
}, 60_000);
