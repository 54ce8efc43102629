import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { dialects, models, type Service, startService } from "../../../support/service.ts";
import { ask, sdks } from "./sdks.ts";

let service: Service;
describe.each(dialects)("over %s", (dialect) => {
  beforeAll(async () => {
    service = await startService(dialect);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  describe.each(sdks)("@anthropic-ai/sdk %s", (_, Client) => {
    const client = () => new Client({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });

    test.each<[string, object, number, string, RegExp]>([
      ["an unknown model", { model: "none/such" }, 404, "not_found_error", /none\/such/],
      ["an embedding model", { model: models.embedder }, 404, "not_found_error", /embed/],
      ["no max_tokens", { max_tokens: undefined }, 400, "invalid_request_error", /max_tokens/],
      [
        "an image",
        { messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url: "https://x" } }] }] },
        400,
        "invalid_request_error",
        /messages\[0\]\.content\[0\].*text only/,
      ],
      [
        "a server tool",
        { tools: [{ type: "web_search_20250305", name: "web_search" }] },
        400,
        "invalid_request_error",
        /tools\[0\]\.type/,
      ],
      [
        "a prompt that is too long",
        { messages: [{ role: "user", content: "word ".repeat(40_000) }] },
        400,
        "invalid_request_error",
        /^prompt is too long: \d+ tokens > \d+ maximum$/,
      ],
      ["a body that is too large", { system: "x".repeat(2 ** 21) }, 413, "request_too_large", /2 MiB/],
    ])("%s", async (_name, fields, status, type, message) => {
      const error = await client()
        .messages.create(ask("Hi", fields))
        .then(
          () => undefined,
          (thrown) => thrown,
        );
      expect(error).toBeInstanceOf(Client.APIError);
      expect(error).toMatchObject({
        status,
        requestID: expect.stringMatching(/^req_/),
        error: { type: "error", error: { type, message: expect.stringMatching(message) } },
      });
      expect(error.error.request_id).toBe(error.requestID);
    });

    test("a wrong key", async () => {
      const stranger = new Client({ baseURL: service.url, apiKey: "tg-wrong" });
      await expect(stranger.messages.create(ask("Hi"))).rejects.toThrow(Client.AuthenticationError);
    });

    test("a stream that fails before it starts keeps its status", async () => {
      await expect(client().messages.stream(ask("[[sim:status=500]]")).finalMessage()).rejects.toMatchObject({
        status: 502,
        error: { error: { type: "api_error" } },
      });
    });

    test("a stream that breaks off throws", async () => {
      const stream = client().messages.stream(ask("[[sim:tokens=50]] [[sim:cut=5]]"));
      let text = "";
      stream.on("text", (piece) => {
        text += piece;
      });
      await expect(stream.finalMessage()).rejects.toThrow(Client.APIError);
      expect(text).not.toBe("");
    });
  });
});
