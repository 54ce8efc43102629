import Anthropic from "@anthropic-ai/sdk";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { MeteringService, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { defaultFleetConfig, startDefaultFleet } from "../../simulator/fleet.ts";
import { databases, dialects } from "../money/databases.ts";
import { eventually } from "../support/eventually.ts";
import { models, type Service, serveModels } from "../support/service.ts";

// Who used it: from the SDKs' own fields and a header to receipts, usage and what a key's holder sees of both.

type Engines = Awaited<ReturnType<typeof startDefaultFleet>>;

const newDatabase = databases();
let engines: Engines;
beforeAll(async () => {
  engines = await startDefaultFleet({ speed: 0, dialect: "vllm" });
});
afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
});

const keep = [
  { name: "user", from: "user" },
  { name: "person", from: "user", hash: false },
  { name: "app", from: "header:X-Title" },
];
const messages = [{ role: "user" as const, content: "[[sim:text=Hello]]" }];
const hashed = expect.stringMatching(/^[\w-]{22}$/);

describe.each(dialects)("%s", (dialect) => {
  let service: Omit<Service, "idle">;
  let openai: OpenAI;
  let anthropic: Anthropic;
  beforeAll(async () => {
    const fleet = defaultFleetConfig(engines).map(({ servers, ...model }) => ({
      ...model,
      servers: servers.map(({ url }) => ({ url, engine: "vllm" as const })),
    }));
    // Over gRPC on PostgreSQL: a map of a message is another thing there than in process.
    service = await serveModels(fleet, { labels: { keep, values_per_day: 4 } }, dialect === "postgresql", {
      TOLLGATE_STORAGE_URL: await newDatabase(dialect),
      TOLLGATE_OPERATOR_TOKEN: "an-operator-token-of-32-characters",
      TOLLGATE_KEY_PEPPER: "a-pepper-of-32-characters-at-least",
    });
    openai = new OpenAI({
      baseURL: `${service.url}/v1`,
      apiKey: service.key,
      maxRetries: 0,
      defaultHeaders: { "X-Title": "Cline" },
    });
    anthropic = new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  const labelsOf = async (id: string | null | undefined) => (await service.receipt(id))?.labels;
  const get = async (path: string) => {
    const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${service.key}` } });
    return (await response.json()) as { readonly data: Record<string, unknown>[]; readonly error: object };
  };

  test("each way to ask leaves the labels of the configuration, and nothing else", async () => {
    const asked = { model: models.plain, messages, user: "ann@example.com" };
    const whole = await openai.chat.completions.create(asked);
    const labels = await labelsOf(whole._request_id);
    expect(labels).toEqual({ user: hashed, person: "ann@example.com", app: "Cline" });

    const stream = await openai.chat.completions.create({ ...asked, stream: true }).withResponse();
    for await (const { object } of stream.data) {
      expect(object).toBe("chat.completion.chunk");
    }
    expect(await labelsOf(stream.request_id)).toEqual(labels);

    const texts = await openai.completions.create({ model: models.plain, prompt: ["a", "b"], user: asked.user });
    expect(await labelsOf(texts._request_id)).toEqual(labels);

    const vectors = await openai.embeddings.create({ model: models.embedder, input: "a", user: asked.user });
    expect(await labelsOf(vectors._request_id)).toEqual(labels);

    const message = { model: models.plain, messages, max_tokens: 5, metadata: { user_id: asked.user } };
    const answer = await anthropic.messages.create(message);
    const { app: _, ...ofUser } = labels ?? {};
    expect(await labelsOf(answer._request_id)).toEqual(ofUser);

    const streamed = anthropic.messages.stream(message);
    await streamed.finalMessage();
    expect(await labelsOf(streamed.request_id)).toEqual(ofUser);

    const plain = await anthropic.messages.create({ model: models.plain, messages, max_tokens: 5 });
    expect(await labelsOf(plain._request_id)).toEqual({});

    const embeddings = createClient(EmbeddingsService, service.transport);
    const headers = { authorization: `Bearer ${service.key}` };
    const labelled = { model: models.embedder, inputs: ["a"], labels: { app: "batch", colour: "red" } };
    const { requestId } = await embeddings.embed(labelled, { headers });
    expect(await labelsOf(requestId)).toEqual({ app: "batch" });

    const account = (await service.receipt(requestId))?.accountId ?? "";
    const other = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: await service.anotherKey(), maxRetries: 0 });
    const elsewhere = await labelsOf((await other.chat.completions.create(asked))._request_id);
    expect(elsewhere).toEqual({ user: hashed, person: "ann@example.com" });
    expect(elsewhere?.user).not.toBe(labels?.user); // another account cannot tell that it is the same person

    const sums = await get("/v1/usage?by=label&label=app");
    expect(sums.data.map(({ label, requests }) => [label, requests])).toEqual([
      ["", 3],
      ["Cline", 4],
      ["batch", 1],
    ]);
    const narrowed = await get("/v1/usage?by=model,label&label=person&label_value=ann@example.com");
    expect(narrowed.data).toMatchObject([
      { label: "ann@example.com", model: models.embedder, requests: 1 },
      { label: "ann@example.com", model: models.plain, requests: 5 },
    ]);
    expect((await get("/v1/usage?by=label")).error).toMatchObject({ param: "label" });
    const generation = await get(`/v1/generation?id=${whole._request_id}`);
    expect(generation.data).toMatchObject({ labels });

    const metering = createClient(MeteringService, service.operator);
    expect((await metering.listLabels({})).labels).toMatchObject([
      { name: "user", hashed: true },
      { name: "person", hashed: false },
      { name: "app", hashed: false },
    ]);
    const list = async (label: { labelName: string; labelValue?: string }) =>
      (await metering.listReceipts({ accountId: account, ...label })).receipts.length;
    expect(await list({ labelName: "app", labelValue: "Cline" })).toBe(4);
    expect(await list({ labelName: "app", labelValue: "" })).toBe(3);
    expect(await list({ labelName: "app" })).toBe(8);
  });

  test("what is too long, or has what a terminal obeys, or is one value too many, becomes other", async () => {
    const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: await service.anotherKey(), maxRetries: 0 });
    const ask = async (user: string) => {
      const answer = await client.chat.completions.create({ model: models.plain, messages, user });
      return labelsOf(answer._request_id);
    };
    expect(await ask("x".repeat(129))).toEqual({ user: hashed, person: "other" });
    expect(await ask("a\u001b[2J")).toEqual({ user: hashed, person: "other" });
    expect(await ask("half of \ud83d")).toMatchObject({ person: "half of \ufffd" });
    for (const user of ["2", "3", "4"]) {
      expect(await ask(user)).toMatchObject({ person: user });
    }
    expect(await ask("5")).toEqual({ user: "other", person: "other" });
    expect(await ask("2")).toEqual({ user: hashed, person: "2" });
    const metering = createClient(MeteringService, service.operator);
    await eventually("the sums have it", async () => {
      const rows: string[] = [];
      for await (const piece of metering.streamUsage({ groupBy: [UsageGroup.LABEL], labelName: "person" })) {
        rows.push(...piece.rows.map(({ label, requests }) => `${label} ${requests}`));
      }
      return rows.includes("other 3") && rows.includes("2 2");
    });
  });
});
