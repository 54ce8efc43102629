import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { dialects, models, type Service, startService } from "../../../support/service.ts";

let service: Service;
let client: OpenAI;
describe.each(dialects)("over %s", (dialect) => {
  beforeAll(async () => {
    service = await startService(dialect);
    client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  const ask = (content: string) => ({ model: models.plain, messages: [{ role: "user" as const, content }] });

  describe("completions", () => {
    test("plain and streamed, without thinking", async () => {
      const params = { model: models.always, prompt: "Once upon a time", max_tokens: 200 };
      const completion = await client.completions.create(params);
      expect(completion).toMatchObject({ object: "text_completion", choices: [{ index: 0, finish_reason: "stop" }] });
      expect(JSON.stringify(completion)).not.toContain('reasoning"');
      let text = "";
      for await (const chunk of await client.completions.create({ ...params, stream: true })) {
        text += chunk.choices[0]?.text ?? "";
      }
      expect(text).toBe(completion.choices[0]?.text);
    });
  });

  describe("embeddings", () => {
    const input = ["Hello", "Bonjour", "Hello"];

    test("in the SDK's own format, base64, and as numbers", async () => {
      // Without a format the SDK asks for base64 and decodes it.
      const packed = await client.embeddings.create({ model: models.embedder, input });
      const plain = await client.embeddings.create({ model: models.embedder, input, encoding_format: "float" });
      const raw = await client.embeddings.create({ model: models.embedder, input, encoding_format: "base64" });
      for (const { data } of [packed, plain]) {
        expect(data.map(({ index }) => index)).toEqual([0, 1, 2]);
        for (const { embedding } of data) {
          expect(embedding).toHaveLength(1024);
          expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
        }
        expect(data[0]?.embedding).toEqual(data[2]?.embedding);
        expect(data[0]?.embedding).not.toEqual(data[1]?.embedding);
      }
      expect(packed.data.map(({ embedding }) => embedding.map((x) => x.toFixed(6)))).toEqual(
        plain.data.map(({ embedding }) => embedding.map((x) => x.toFixed(6))),
      );
      expect(raw.data[0]?.embedding).toHaveLength(5464);
      expect(packed.usage.prompt_tokens).toBeGreaterThan(0);
      expect(packed.usage.total_tokens).toBe(packed.usage.prompt_tokens);
    });

    test.each<[string, object, RegExp]>([
      ["dimensions", { dimensions: 256 }, /dimensions/],
      ["tokens", { input: [[1, 2, 3]] }, /check_embedding_ctx_length/],
      ["an empty text", { input: ["a", ""] }, /input/],
      ["an input that is too long", { input: "word ".repeat(9000) }, /8192|8,192/],
    ])("%s are refused", async (_, fields, message) => {
      const params = { model: models.embedder, input: "a", ...fields };
      await expect(client.embeddings.create(params)).rejects.toMatchObject({
        status: 400,
        type: "invalid_request_error",
        message: expect.stringMatching(message),
      });
    });

    test("a generation model cannot embed, nor an embedding model chat", async () => {
      await expect(client.embeddings.create({ model: models.plain, input: "a" })).rejects.toMatchObject({
        status: 404,
      });
      await expect(client.chat.completions.create({ ...ask("Hi"), model: models.embedder })).rejects.toMatchObject({
        status: 404,
      });
    });
  });

  describe("models", () => {
    test("the list and one of them", async () => {
      const list = await client.models.list();
      expect(list.data.map(({ id }) => id)).toEqual(Object.values(models));
      const model = await client.models.retrieve(models.plain);
      expect(model).toMatchObject({ id: models.plain, object: "model", created: expect.any(Number) });
      expect(model).toMatchObject({ pricing: { prompt: "0.0000002", completion: "0.00000025" } });
    });
  });

  describe("errors", () => {
    test.each<[string, object, number, string, string, string | null]>([
      ["an unknown model", { model: "none/such" }, 404, "invalid_request_error", "model_not_found", "model"],
      ["two answers", { n: 2 }, 400, "invalid_request_error", "invalid_value", "n"],
      [
        "JSON mode",
        { response_format: { type: "json_object" } },
        400,
        "invalid_request_error",
        "invalid_value",
        "response_format.type",
      ],
      [
        "an image",
        { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://x" } }] }] },
        400,
        "invalid_request_error",
        "invalid_value",
        "messages[0].content[0].type",
      ],
      [
        "a prompt that is too long",
        { messages: [{ role: "user", content: "word ".repeat(40_000) }] },
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "messages",
      ],
      [
        "a body that is too large",
        { user: "x".repeat(2 ** 21) },
        413,
        "invalid_request_error",
        "request_too_large",
        null,
      ],
    ])("%s", async (_, fields, status, type, code, param) => {
      await expect(client.chat.completions.create({ ...ask("Hi"), ...fields })).rejects.toMatchObject({
        status,
        type,
        code,
        param,
        requestID: expect.stringMatching(/^req_/),
      });
    });

    test("a wrong key", async () => {
      const stranger = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: "tg-wrong" });
      await expect(stranger.chat.completions.create(ask("Hi"))).rejects.toMatchObject({
        status: 401,
        code: "invalid_api_key",
      });
    });

    test("features that there are not", async () => {
      await expect(client.responses.create({ model: models.plain, input: "Hi" })).rejects.toMatchObject({
        status: 404,
        message: expect.stringContaining("responses API"),
      });
    });
  });
});
