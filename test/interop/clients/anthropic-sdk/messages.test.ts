import type Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { dialects, models, type Service, startService } from "../../../support/service.ts";
import { ask, clock, sdks, weather } from "./sdks.ts";

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

    test("a plain message", async () => {
      const message = await client().messages.create(ask("[[sim:text=Hello there]]"));
      expect(message).toMatchObject({
        id: expect.stringMatching(/^msg_/),
        type: "message",
        role: "assistant",
        model: models.plain,
        content: [{ type: "text", text: "Hello there" }],
        stop_reason: "end_turn",
        stop_sequence: null,
      });
      expect(message.usage.input_tokens).toBeGreaterThan(0);
      expect(message.usage.output_tokens).toBeGreaterThan(0);
      expect(await service.receipt(message._request_id)).toMatchObject({
        inputTokens: message.usage.input_tokens,
        outputTokens: message.usage.output_tokens,
      });
    });

    test("headers tell the request and the rate limit", async () => {
      const { response } = await client().messages.create(ask("Hi")).withResponse();
      const { headers } = response;
      expect(headers.get("request-id")).toBe(headers.get("x-request-id"));
      expect(headers.get("anthropic-ratelimit-requests-limit")).toMatch(/^\d+$/);
      expect(headers.get("anthropic-ratelimit-requests-remaining")).toMatch(/^\d+$/);
      expect(headers.get("anthropic-ratelimit-requests-reset")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    });

    test("a stream of events", async () => {
      const stream = await client().messages.create({ ...ask("[[sim:text=Hello there]]"), stream: true });
      const events: Anthropic.Messages.RawMessageStreamEvent[] = [];
      for await (const event of stream) {
        events.push(event);
      }
      const [start] = events.filter((event) => event.type === "message_start");
      expect(start?.message.usage.input_tokens).toBeGreaterThan(0);
      const deltas = events.filter((event) => event.type === "content_block_delta").map(({ delta }) => delta);
      expect(deltas.map((delta) => (delta.type === "text_delta" ? delta.text : "")).join("")).toBe("Hello there");
      const types = events.map(({ type }) => type);
      expect(types.filter((type, at) => type !== types[at - 1])).toEqual([
        ...["message_start", "content_block_start", "content_block_delta", "content_block_stop"],
        ...["message_delta", "message_stop"],
      ]);
    });

    test("the stream helper gives the message that a plain call gives", async () => {
      const params = ask("Tell me [[sim:tools=2]]", { model: models.on, tools: [weather, clock] });
      const texts: string[] = [];
      const thoughts: string[] = [];
      const stream = client()
        .messages.stream(params)
        .on("text", (text) => texts.push(text))
        .on("thinking", (thought) => thoughts.push(thought));
      const streamed = await stream.finalMessage();
      const plain = await client().messages.create(params);
      expect(streamed.content).toEqual(plain.content);
      expect(streamed.stop_reason).toBe("tool_use");
      const { cost, ...usage } = plain.usage as typeof plain.usage & { cost: number };
      expect(streamed.usage).toEqual(usage); // the helper leaves out of a stream's end what it does not know
      expect(cost).toBeGreaterThan(0);
      expect(await service.receipt(stream.request_id)).toMatchObject({
        inputTokens: streamed.usage.input_tokens,
        outputTokens: streamed.usage.output_tokens,
      });
      expect(thoughts.join("")).toBe(plain.content.find((block) => block.type === "thinking")?.thinking);
    });

    test.each<[string, object, boolean]>([
      [models.always, {}, true],
      [models.always, { thinking: { type: "disabled" } }, true],
      [models.off, {}, false],
      [models.off, { thinking: { type: "enabled", budget_tokens: 1024 } }, true],
      [models.off, { thinking: { type: "adaptive" }, output_config: { effort: "high" } }, true],
      [models.off, { thinking: { type: "disabled" } }, false],
      [models.on, {}, true],
      [models.on, { thinking: { type: "disabled" } }, false],
      [models.plain, { thinking: { type: "enabled", budget_tokens: 1024 } }, false],
    ])("%s with %j thinks: %s", async (model, fields, thinks) => {
      const params = ask("Why?", { model, ...fields });
      const plain = await client().messages.create(params);
      const streamed = await client().messages.stream(params).finalMessage();
      for (const { content } of [plain, streamed]) {
        expect(content.map(({ type }) => type)).toEqual(thinks ? ["thinking", "text"] : ["text"]);
      }
    });

    test("stop sequences and limits", async () => {
      const stopped = await client().messages.create(
        ask("[[sim:text=one two END three]]", { stop_sequences: ["END"] }),
      );
      expect(stopped).toMatchObject({
        content: [{ type: "text", text: "one two " }],
        stop_reason: "end_turn",
        stop_sequence: null,
      });
      const cut = await client().messages.create(ask("[[sim:tokens=50]]", { max_tokens: 7 }));
      expect(cut).toMatchObject({ stop_reason: "max_tokens", usage: { output_tokens: 7 } });
    });

    test("a prefill is continued and not repeated", async () => {
      const message = await client().messages.create({
        model: models.plain,
        max_tokens: 50,
        messages: [
          { role: "user", content: "A or B? [[sim:text=B)]]" },
          { role: "assistant", content: "The answer is (" },
        ],
      });
      expect(message.content).toEqual([{ type: "text", text: "B)" }]);
    });

    test("counting tokens", async () => {
      const { input_tokens } = await client().messages.countTokens({
        model: models.plain,
        system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
        messages: [{ role: "user", content: "Hello there, how are you?" }],
        tools: [weather],
        thinking: { type: "enabled", budget_tokens: 1024 },
      });
      expect(input_tokens).toBeGreaterThan(10);
    });

    test("the models, page by page, and one of them", async () => {
      const ids: string[] = [];
      for await (const { id } of client().models.list({ limit: 2 })) {
        ids.push(id);
      }
      expect(ids).toEqual(Object.values(models));
      const model = await client().models.retrieve(models.plain);
      expect(model).toMatchObject({ type: "model", id: models.plain, display_name: expect.any(String) });
      expect(Date.parse(model.created_at)).not.toBeNaN();
    });

    test("aborting a stream ends it on the engine", async () => {
      const stream = client().messages.stream(ask("[[sim:tokens=400]] [[sim:stall=5]]"));
      await new Promise<void>((resolve) => stream.once("text", () => resolve()));
      stream.abort();
      await expect(stream.finalMessage()).rejects.toThrow(Client.APIUserAbortError);
      await expect(service.idle()).resolves.toBeUndefined();
    });
  });
});
