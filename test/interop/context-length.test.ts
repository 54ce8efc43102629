import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import { type SglangBridge, startSglangBridge } from "../fleet/engines/sglang-grpc/bridge.ts";
import { type Service, serveModels } from "../support/service.ts";

// Agents and LangChain shorten a conversation when they see certain words and codes, whichever engine refused it.

const limit = 300;

describe.each([
  ["vllm", "vllm"],
  ["sglang", "sglang"],
  ["llama.cpp", "llama.cpp"],
  ["ollama", "ollama"],
  ["trtllm", "trtllm"],
  ["openai", "openai"],
  ["sglang", "sglang-grpc"],
] as const)("a prompt that %s refuses", (dialect, engine) => {
  let simulator: Simulator;
  let service: Omit<Service, "idle">;
  let bridge: SglangBridge | undefined;
  beforeAll(async () => {
    simulator = await startSimulator({ models: [{ id: "m", contextLength: limit }], dialect, speed: 0 });
    bridge = engine === "sglang-grpc" ? await startSglangBridge(simulator.url) : undefined;
    const servers = [{ url: bridge?.url ?? simulator.url, engine }];
    service = await serveModels([{ id: "m", context_length: limit, servers }]);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await bridge?.[Symbol.asyncDispose]();
    await simulator.close();
  });

  describe.each([false, true])("streamed: %s", (stream) => {
    // The estimate says of the first that it fits, so that the engine is the one who refuses it.
    test.each([
      ["a little", "a ".repeat(400)],
      ["by far", "word ".repeat(4000)],
    ])("for being too long, %s", async (_, content) => {
      const messages = [{ role: "user" as const, content }];
      const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 });
      await expect(openai.chat.completions.create({ model: "m", messages, stream })).rejects.toMatchObject({
        status: 400,
        code: "context_length_exceeded",
        param: "messages",
        message: expect.stringContaining(`maximum context length is ${limit} tokens`),
      });
      const anthropic = new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });
      await expect(anthropic.messages.create({ model: "m", max_tokens: 5, messages, stream })).rejects.toThrow(
        /400 .*prompt is too long: ((about )?\d+ tokens > 300 maximum|the maximum is 300 tokens)/,
      );
      if (dialect === "ollama") {
        return; // continues no bare text
      }
      const completion = openai.completions.create({ model: "m", prompt: content, max_tokens: 5, stream });
      await expect(completion).rejects.toMatchObject({
        status: 400,
        code: "context_length_exceeded",
        param: "prompt",
      });
    });
  });
});
