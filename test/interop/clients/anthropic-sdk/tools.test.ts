import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { dialects, models, type Service, startService } from "../../../support/service.ts";
import { ask, clock, sdks, weather } from "./sdks.ts";

type Tool = Anthropic.Messages.Tool;

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
