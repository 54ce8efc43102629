import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import Anthropic0 from "anthropic-sdk-0";
import { dialects, models, type Service, startService } from "../../support/service.ts";

let service: Service;
describe.each(dialects)("over %s", (dialect) => {
  beforeAll(async () => {
    service = await startService(dialect);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  type Tool = Anthropic.Messages.Tool;
  const weather: Tool = {
    name: "weather",
    description: "Tells the weather of a city",
    input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  };
  const clock: Tool = { name: "clock", input_schema: { type: "object", properties: {} } };

  // The major versions differ in headers (bearer or x-api-key, another anthropic-version), hardly in methods.
  describe.each([
    ["1.x", Anthropic],
    ["0.x", Anthropic0 as unknown as typeof Anthropic],
  ])("@anthropic-ai/sdk %s", (_, Client) => {
    const client = () => new Client({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });
    const ask = (content: string, more: object = {}) => ({
      model: models.plain,
      max_tokens: 500,
      messages: [{ role: "user" as const, content }],
      ...more,
    });

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

    test.each([true, false])("a tool loop with parallel calls (stream: %s)", async (streams) => {
      const messages: Anthropic.Messages.MessageParam[] = [
        { role: "user", content: 'What now? [[sim:tools=3]] [[sim:args={"city":"Paris"}]]' },
      ];
      const params = { model: models.on, max_tokens: 500, messages, tools: [weather, clock] };
      const first = streams
        ? await client().messages.stream(params).finalMessage()
        : await client().messages.create(params);
      expect(first.stop_reason).toBe("tool_use");
      const calls = first.content.filter((block) => block.type === "tool_use");
      expect(calls.map(({ name }) => name)).toEqual(["weather", "clock", "weather"]);
      expect(calls[0]?.input).toEqual({ city: "Paris" });
      expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
      messages.push(
        { role: "assistant", content: first.content },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: calls[0]?.id ?? "", content: "Rain" },
            { type: "tool_result", tool_use_id: calls[1]?.id ?? "", content: [{ type: "text", text: "Noon" }] },
            { type: "tool_result", tool_use_id: calls[2]?.id ?? "", content: "No such city", is_error: true },
            { type: "text", text: "Well?" },
          ],
        },
      );
      const second = streams
        ? await client().messages.stream(params).finalMessage()
        : await client().messages.create(params);
      expect(second.stop_reason).toBe("end_turn");
      expect(second.content.at(-1)).toMatchObject({ type: "text" });
    });

    test("the tool runner", async () => {
      const asked: unknown[] = [];
      const final = await client().beta.messages.toolRunner({
        ...ask('How is it? [[sim:tools=2]] [[sim:args={"city":"Oslo"}]]'),
        tools: [
          {
            type: "custom",
            ...weather,
            run: (input: unknown) => {
              asked.push(input);
              return "Snow";
            },
            parse: (input: unknown) => input,
          },
        ],
      });
      expect(asked).toEqual([{ city: "Oslo" }, { city: "Oslo" }]);
      expect(final.content.at(-1)).toMatchObject({ type: "text", text: expect.stringContaining("Snow") });
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

  describe("tools that change in a conversation", () => {
    const client = () => new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });
    const runnable = (tool: Tool, run: () => string) => ({
      type: "custom" as const,
      ...tool,
      run,
      parse: (input: unknown) => input,
    });

    test("the tool runner adds and removes them", async () => {
      const ran: string[] = [];
      const told = (name: string) => () => {
        ran.push(name);
        return "Noon";
      };
      const runner = client().beta.messages.toolRunner({
        model: models.plain,
        max_tokens: 500,
        messages: [{ role: "user", content: "[[sim:tools=2]]" }],
        tools: [runnable(weather, told("weather"))],
      });
      runner.addTools(runnable(clock, told("clock")));
      runner.removeTools("weather");
      const final = await runner;
      expect(ran).toEqual(["clock", "clock"]);
      expect(final.content.at(-1)).toMatchObject({ type: "text", text: expect.stringContaining("Noon") });
    });

    test("a deferred tool is called once a search has found it", async () => {
      const search: Tool = { name: "search", input_schema: { type: "object", properties: {} } };
      const params = {
        model: models.plain,
        max_tokens: 500,
        tools: [{ ...clock, defer_loading: true }, search],
        messages: [{ role: "user", content: "[[sim:tool=clock]]" }] as Anthropic.Messages.MessageParam[],
      };
      const before = await client().messages.create(params);
      expect(before.stop_reason).toBe("end_turn");
      const found: Anthropic.Messages.MessageParam[] = [
        { role: "user", content: "Search" },
        { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "search", input: {} }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "t1", content: [{ type: "tool_reference", tool_name: "clock" }] },
          ],
        },
        { role: "assistant", content: "Found." },
      ];
      const after = await client().messages.create({ ...params, messages: [...found, ...params.messages] });
      expect(after.content).toMatchObject([{ type: "tool_use", name: "clock" }]);
    });
  });
});
