import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { EngineName } from "#lib/inference/engine-names.ts";
import { systemClock } from "#lib/time/clock.ts";
import { registry } from "#src/fleet/engines/drivers/registry.ts";
import type { EngineRequest, ThinkingRecipe } from "#src/fleet/engines/interface.ts";
import { call, plainAnswer, stopWord, thought } from "../../engines-real/model/said.ts";
import { readCounts } from "../../engines-real/told.ts";
import { type Answer, drain } from "./collect.ts";
import { chatRequest, textRequest } from "./requests.ts";
import { scriptedServer } from "./scripted-server.ts";

// Bytes of real engines, recorded by `npm run test:engines -- --record`, read over a real socket.

/** Which adapter reads the recordings of a folder. */
const engines: readonly (readonly [folder: string, engine: EngineName])[] = [
  ["vllm", "vllm"],
  ["llama-cpp", "llama.cpp"],
  ["ollama", "ollama"],
  ["transformers", "openai"],
];

const recipe: ThinkingRecipe = { mode: "default_on", depths: false, switch: "chat_template_kwargs" };
const question = "What do you say?";
const begun = [
  { role: Role.USER, text: question },
  { role: Role.ASSISTANT, text: "Count: one two" },
];
const off = { recipe, thinking: { enabled: false, deepest: false } };
const on = { recipe, thinking: { enabled: true, deepest: false } };
const plain: Answer = { reasoning: "", text: plainAnswer, calls: [] };
const called = { id: expect.any(String), name: call.name, arguments: expect.anything() };

const rows: readonly (readonly [row: string, request: EngineRequest, answer: object, finish: FinishReason])[] = [
  ["plain", chatRequest(question, off), plain, FinishReason.STOP],
  ["thinking", chatRequest(question, on), { ...plain, reasoning: thought }, FinishReason.STOP],
  ["tools", chatRequest(question, off), { ...plain, text: "", calls: [called] }, FinishReason.TOOL_CALLS],
  [
    "stop",
    chatRequest(question, { ...off, stopSequences: [stopWord] }),
    { ...plain, text: plainAnswer.split(stopWord)[0] },
    FinishReason.STOP,
  ],
  [
    "prefill",
    chatRequest({ messages: begun }, { recipe }),
    { ...plain, text: " three four five six" },
    FinishReason.LENGTH,
  ],
  ["completions", textRequest("Count: one"), { ...plain, text: " two three four five" }, FinishReason.LENGTH],
];

const read = (folder: string, row: string) => readFileSync(new URL(`recordings/${folder}/${row}.txt`, import.meta.url));
const has = (folder: string, row: string) =>
  readdirSync(new URL(`recordings/${folder}`, import.meta.url)).includes(`${row}.txt`);

const settings = {
  connections: 1,
  clock: systemClock,
  connectTimeoutMs: 10_000,
  silenceTimeoutMs: 60_000,
  kind: "generation" as const,
  capacity: 1,
  systemAnywhere: false,
  contextLength: 4096,
};

describe.each(engines)("%s", (folder, name) => {
  const recorded = rows.filter(([row]) => has(folder, row));

  test.each(recorded)(
    "%s is read as it was said, and counted as the engine counted",
    async (row, request, answer, finish) => {
      const bytes = read(folder, row);
      await using server = await scriptedServer(
        Object.fromEntries(
          ["/v1/chat/completions", "/v1/completions", "/api/chat", "/api/generate"].map((path) => [
            path,
            (_, response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(bytes),
          ]),
        ),
      );
      const engine = registry[name].create(server.url, settings);
      const { outputs, answer: found, error } = await drain(engine.generate(request, new AbortController().signal));
      await engine.close();
      expect(error).toBeUndefined();
      expect(found).toEqual(answer);
      for (const { arguments: given } of found.calls) {
        expect(JSON.parse(given)).toEqual(call.arguments);
      }
      const counts = readCounts({ pieces: [bytes] });
      expect(outputs.at(-1)).toMatchObject({
        finish,
        usage: { inputTokens: counts?.input, outputTokens: counts?.output },
      });
      expect(outputs.at(-1)?.usage).not.toHaveProperty("isLowerBound");
    },
  );
});
