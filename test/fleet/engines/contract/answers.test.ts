import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { drain } from "../collect.ts";
import { chatRequest, textRequest } from "../requests.ts";
import { engines, never, startEngine } from "./engines.ts";

describe.each(engines)("$dialect", ({ dialect, tools, completions }) => {
  const started = startEngine(dialect);

  test("answers, counting as it goes", async () => {
    const before = started.sim.metrics("m").generatedTokens;
    const { outputs, answer, error } = await started.generate(chatRequest("Tell me about rivers."));
    expect(error).toBeUndefined();
    expect(answer.text.length).toBeGreaterThan(10);
    expect(answer.reasoning).toBe("");
    const last = outputs.at(-1);
    expect(last?.finish).toBe(FinishReason.STOP);
    expect(last?.usage?.outputTokens).toBe(started.sim.metrics("m").generatedTokens - before);
    expect(last?.usage?.inputTokens).toBeGreaterThan(0);
    expect(outputs.slice(0, -1).every((output) => output.finish === undefined)).toBe(true);
  });

  test("answers and counts the same where nobody reads the answer before it is complete", async () => {
    const request = chatRequest("Tell me about rivers.", { sampling: create(SamplingSchema, { seed: 7n }) });
    const read = await started.generate(request);
    const gathered = await drain(started.slowEngine.generate({ ...request, gathered: true }, never()));
    expect(gathered.error).toBeUndefined();
    expect(gathered.answer).toEqual(read.answer);
    const [last, lastRead] = [gathered.outputs.at(-1), read.outputs.at(-1)];
    expect(last?.finish).toBe(lastRead?.finish);
    expect(last?.usage?.outputTokens).toBe(lastRead?.usage?.outputTokens);
  });

  test("stops at the limit", async () => {
    const { outputs } = await started.generate(chatRequest("[[sim:tokens=50]]", { maxOutputTokens: 5 }));
    expect(outputs.at(-1)).toMatchObject({ finish: FinishReason.LENGTH, usage: { outputTokens: 5 } });
  });

  test("stops at a stop sequence, which is not part of the answer", async () => {
    const { outputs, answer } = await started.generate(
      chatRequest("[[sim:text=one two three]]", { stopSequences: [" three"] }),
    );
    expect(answer.text.trimEnd()).toBe("one two");
    expect(outputs.at(-1)?.finish).toBe(FinishReason.STOP);
  });

  test("answers the same for the same seed", async () => {
    const request = chatRequest("hi", { sampling: create(SamplingSchema, { seed: 7n }) });
    const [first, second] = [await started.generate(request), await started.generate(request)];
    expect(first.answer).toEqual(second.answer);
    const other = await started.generate({ ...request, sampling: create(SamplingSchema, { seed: 8n }) });
    expect(other.answer).not.toEqual(first.answer);
  });

  if (tools) {
    test.each([undefined, false])("calls tools, in parallel %s", async (parallelToolCalls) => {
      const parametersJson = '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}';
      const { outputs, answer } = await started.generate(
        chatRequest({
          messages: [{ role: Role.USER, text: "What is the weather in Oslo? [[sim:call=weather]]" }],
          tools: [{ name: "weather", description: "Tells the weather.", parametersJson }],
          ...(parallelToolCalls !== undefined && { parallelToolCalls }),
        }),
      );
      expect(answer.calls).toEqual([{ id: expect.any(String), name: "weather", arguments: expect.any(String) }]);
      expect(JSON.parse(answer.calls[0]?.arguments ?? "")).toHaveProperty("city");
      expect(outputs.at(-1)?.finish).toBe(FinishReason.TOOL_CALLS);
    });

    test("reads the results of tools", async () => {
      const { answer } = await started.generate(
        chatRequest({
          messages: [
            { role: Role.USER, text: "weather?" },
            { role: Role.ASSISTANT, toolCalls: [{ id: "call_1", name: "weather", argumentsJson: "{}" }] },
            { role: Role.TOOL, toolCallId: "call_1", text: "rain" },
          ],
          tools: [{ name: "weather" }],
        }),
      );
      expect(answer.text).toContain("rain");
    });
  }

  if (completions) {
    test("continues a text", async () => {
      const cacheSalt = "of one account";
      const { answer, outputs } = await started.generate(textRequest("Once upon a time", { cacheSalt }));
      expect(answer.text.length).toBeGreaterThan(0);
      expect(outputs.at(-1)?.finish).toBe(FinishReason.STOP);
    });
  }

  test("takes system messages anywhere", async () => {
    const { error } = await started.generate(
      chatRequest({
        messages: [
          { role: Role.SYSTEM, text: "a" },
          { role: Role.SYSTEM, text: "b" },
          { role: Role.USER, text: "c" },
          { role: Role.SYSTEM, text: "d" },
          { role: Role.ASSISTANT, text: "e" },
          { role: Role.USER, text: "f" },
        ],
      }),
    );
    expect(error).toBeUndefined();
  });
});
