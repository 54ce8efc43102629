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

  type Chunk = OpenAI.Chat.Completions.ChatCompletionChunk;
  type Delta = Chunk["choices"][number]["delta"] & { reasoning?: string };
  type Message = OpenAI.Chat.Completions.ChatCompletionMessage & { reasoning?: string };

  const weather = {
    type: "function" as const,
    function: {
      name: "weather",
      description: "Tells the weather of a city",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  };
  const clock = { type: "function" as const, function: { name: "clock" } };

  const ask = (content: string) => ({ model: models.plain, messages: [{ role: "user" as const, content }] });

  async function collect(stream: AsyncIterable<Chunk>) {
    const chunks: Chunk[] = [];
    for await (const chunk of stream) {
      chunks.push(chunk);
    }
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta as Delta));
    return {
      chunks,
      text: deltas.map(({ content }) => content ?? "").join(""),
      reasoning: deltas.map(({ reasoning }) => reasoning ?? "").join(""),
    };
  }

  test("a plain completion", async () => {
    const completion = await client.chat.completions.create(ask("[[sim:text=Hello there]]"));
    expect(completion).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: "chat.completion",
      model: models.plain,
      choices: [{ index: 0, message: { role: "assistant", content: "Hello there" }, finish_reason: "stop" }],
    });
    const { prompt_tokens = 0, completion_tokens = 0, total_tokens } = completion.usage ?? {};
    expect(prompt_tokens).toBeGreaterThan(0);
    expect(completion_tokens).toBeGreaterThan(0);
    expect(total_tokens).toBe(prompt_tokens + completion_tokens);
    expect(await service.receipt(completion._request_id)).toMatchObject({
      inputTokens: prompt_tokens,
      outputTokens: completion_tokens,
    });
  });

  test("headers tell the request and the rate limit", async () => {
    const { headers } = (await client.chat.completions.create(ask("Hi")).withResponse()).response;
    expect(headers.get("x-request-id")).toBe(headers.get("request-id"));
    expect(headers.get("x-ratelimit-limit-requests")).toMatch(/^\d+$/);
    expect(headers.get("x-ratelimit-remaining-requests")).toMatch(/^\d+$/);
    expect(headers.get("x-ratelimit-reset-requests")).toMatch(/^[\d.]+(ms|s)$/);
  });

  test("a stream with usage asked for ends in a chunk of usage alone", async () => {
    const params = {
      ...ask("[[sim:text=Hello there]]"),
      stream: true as const,
      stream_options: { include_usage: true },
    };
    const { data, request_id } = await client.chat.completions.create(params).withResponse();
    const { chunks, text } = await collect(data);
    const { usage } = chunks.at(-1) ?? {};
    expect(await service.receipt(request_id)).toMatchObject({
      inputTokens: usage?.prompt_tokens,
      outputTokens: usage?.completion_tokens,
    });
    expect(text).toBe("Hello there");
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
  });

  test("a stream without has a choice in every chunk and usage in the last", async () => {
    const { chunks } = await collect(await client.chat.completions.create({ ...ask("Hi"), stream: true }));
    for (const { choices } of chunks) {
      expect(choices).toHaveLength(1);
    }
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: "stop" }],
      usage: { total_tokens: expect.any(Number) },
    });
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
  });

  test("the stream helper gives the calls that a plain call gives", async () => {
    const params = { ...ask("Tell me [[sim:tools=2]]"), tools: [weather, clock] };
    const streamed = await client.chat.completions.stream(params).finalChatCompletion();
    const plain = await client.chat.completions.create(params);
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject(plain.choices[0]?.message.tool_calls ?? []);
    expect(streamed.choices[0]?.finish_reason).toBe("tool_calls");
    expect(streamed.usage?.total_tokens).toBe(plain.usage?.total_tokens);
  });

  test.each([true, false])("a tool loop with parallel calls (stream: %s)", async (streams) => {
    const messages: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = [
      { role: "developer", content: "Use tools." },
      { role: "user", content: 'What now? [[sim:tools=3]] [[sim:args={"city":"Paris"}]]' },
    ];
    const params = { model: models.on, messages, tools: [weather, clock] };
    const run = async () =>
      streams
        ? await client.chat.completions.stream(params).finalChatCompletion()
        : await client.chat.completions.create(params);
    const [first] = (await run()).choices;
    expect(first?.finish_reason).toBe("tool_calls");
    const calls = first?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === "function" && call.function.name)).toEqual([
      "weather",
      "clock",
      "weather",
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    if (first !== undefined) {
      messages.push(first.message);
    }
    for (const { id } of calls) {
      messages.push({ role: "tool", tool_call_id: id, content: [{ type: "text", text: "Rain" }] });
    }
    const [second] = (await run()).choices;
    expect(second?.finish_reason).toBe("stop");
    expect(second?.message.content).toContain("Rain");
  });

  test.each([true, false])("the tool runner (stream: %s)", async (stream) => {
    const asked: unknown[] = [];
    const params = {
      ...ask('How is it? [[sim:tools=2]] [[sim:args={"city":"Oslo"}]]'),
      tools: [
        {
          type: "function" as const,
          function: {
            ...weather.function,
            parse: JSON.parse,
            function: (input: unknown) => {
              asked.push(input);
              return "Snow";
            },
          },
        },
      ],
    };
    const runner = stream
      ? client.chat.completions.runTools({ ...params, stream: true })
      : client.chat.completions.runTools(params);
    expect(await runner.finalContent()).toContain("Snow");
    expect(asked).toEqual([{ city: "Oslo" }, { city: "Oslo" }]);
  });

  test("the tool runner goes on after arguments that are not JSON", async () => {
    const runner = client.chat.completions.runTools({
      ...ask('How is it? [[sim:tool=weather]] [[sim:args={"city": "Os]]'),
      tools: [{ type: "function", function: { ...weather.function, parse: JSON.parse, function: () => "Snow" } }],
    });
    expect(await runner.finalContent()).toContain("JSON");
  });

  test.each<[string, object, boolean]>([
    [models.always, {}, true],
    [models.always, { reasoning_effort: "none" }, true],
    [models.off, {}, false],
    [models.off, { reasoning_effort: "high" }, true],
    [models.off, { reasoning_effort: "low" }, true],
    [models.off, { thinking: { type: "enabled" } }, true],
    [models.off, { reasoning: { effort: "medium" } }, true],
    [models.off, { reasoning_effort: "none", thinking: { type: "enabled" } }, false],
    [models.on, {}, true],
    [models.on, { reasoning_effort: "none" }, false],
    [models.on, { thinking: { type: "disabled" } }, false],
    [models.on, { reasoning: { enabled: false } }, false],
    [models.on, { chat_template_kwargs: { enable_thinking: false } }, false],
    [models.on, { enable_thinking: false }, false],
    [models.on, { include_reasoning: false }, false],
    [models.off, { chat_template_kwargs: { thinking: true } }, true],
    [models.plain, { reasoning_effort: "max" }, false],
  ])("%s with %j thinks: %s", async (model, fields, thinks) => {
    const params = { ...ask("Why?"), ...fields, model };
    const completion = await client.chat.completions.create(params);
    const { content, reasoning = "" } = (completion.choices[0]?.message ?? {}) as Message;
    const streamed = await collect(await client.chat.completions.create({ ...params, stream: true as const }));
    expect(reasoning !== "").toBe(thinks);
    expect(streamed).toMatchObject({ reasoning, text: content });
    expect(content).not.toContain("think");
  });

  test("stop and limits", async () => {
    const stopped = await client.chat.completions.create({ ...ask("[[sim:text=one END two]]"), stop: "END" });
    expect(stopped.choices[0]).toMatchObject({ message: { content: "one " }, finish_reason: "stop" });
    const cut = await client.chat.completions.create({ ...ask("[[sim:tokens=50]]"), max_completion_tokens: 7 });
    expect(cut).toMatchObject({ choices: [{ finish_reason: "length" }], usage: { completion_tokens: 7 } });
  });

  test("aborting a stream ends it on the engine", async () => {
    const stream = await client.chat.completions.create({
      ...ask("[[sim:tokens=400]] [[sim:stall=5]]"),
      stream: true,
    });
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) {
        stream.controller.abort();
      }
    }
    await expect(service.idle()).resolves.toBeUndefined();
  });

  test("a stream that fails before it starts keeps its status", async () => {
    await expect(client.chat.completions.create({ ...ask("[[sim:status=500]]"), stream: true })).rejects.toMatchObject({
      status: 502,
      type: "server_error",
      code: "upstream_error",
    });
  });

  test("a stream that breaks off throws", async () => {
    const stream = await client.chat.completions.create({ ...ask("[[sim:tokens=50]] [[sim:cut=5]]"), stream: true });
    await expect(collect(stream)).rejects.toMatchObject({ code: "upstream_error" });
  });
});
