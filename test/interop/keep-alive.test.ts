import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ChatAnthropic } from "@langchain/anthropic";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { ChatOpenAI } from "@langchain/openai";
import { streamText } from "ai";
import Anthropic0 from "anthropic-sdk-0";
import OpenAI from "openai";
import { type FrontServer, startFront } from "../facades/http/front-server.ts";
import { finished, scriptedCore, started } from "../facades/http/scripted-core.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { pause } from "../support/pause.ts";

globalThis.AI_SDK_LOG_WARNINGS = false; // it does not know our models

/** Long enough for a keep-alive, in milliseconds. */
const silence = 16_000;
const clock = new ManualClock();

// Silence before the first event, between events, and before the last: the clock passes it at once.
const { transport } = scriptedCore({
  async *generate() {
    clock.advance(2 * silence);
    await packetLeaves();
    yield { events: [started()] };
    for (const value of ["Hel", "lo"]) {
      clock.advance(silence);
      await packetLeaves();
      yield { events: [{ event: { case: "reasoning", value } }] };
    }
    for (const value of ["Hel", "lo"]) {
      clock.advance(silence);
      await packetLeaves();
      yield { events: [{ event: { case: "text", value } }] };
    }
    clock.advance(silence);
    await packetLeaves();
    yield { events: [finished()] };
  },
});
const packetLeaves = () => pause(5, "what was written leaves in a packet of its own");

let front: FrontServer;
beforeAll(async () => {
  front = await startFront(transport, { clock });
});
afterAll(async () => {
  await front[Symbol.asyncDispose]();
});

const model = "m";
const prompt = "Hi";
const messages = [{ role: "user" as const, content: prompt }];
const apiKey = "tg-1";
const params = { model, messages, max_tokens: 99 };

async function joined(stream: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of stream) {
    text += piece;
  }
  return text;
}

async function langchain(chat: BaseChatModel): Promise<string> {
  let text = "";
  for await (const chunk of await chat.stream(prompt)) {
    text += chunk.text;
  }
  return text;
}

test.each<[string, () => Promise<string | null | undefined>]>([
  [
    "openai",
    async () => {
      const client = new OpenAI({ baseURL: `${front.url}/v1`, apiKey });
      const completion = await client.chat.completions.stream({ model, messages }).finalChatCompletion();
      return completion.choices[0]?.message.content;
    },
  ],
  ["@anthropic-ai/sdk 1.x", () => new Anthropic({ baseURL: front.url, apiKey }).messages.stream(params).finalText()],
  ["@anthropic-ai/sdk 0.x", () => new Anthropic0({ baseURL: front.url, apiKey }).messages.stream(params).finalText()],
  [
    "@ai-sdk/openai-compatible",
    () => {
      const provider = createOpenAICompatible({ name: "tollgate", baseURL: `${front.url}/v1`, apiKey });
      return joined(streamText({ model: provider(model), prompt }).textStream);
    },
  ],
  [
    "@ai-sdk/anthropic",
    () => {
      const provider = createAnthropic({ baseURL: `${front.url}/v1`, apiKey });
      return joined(streamText({ model: provider(model), prompt }).textStream);
    },
  ],
  [
    "@langchain/openai",
    () => langchain(new ChatOpenAI({ model, apiKey, configuration: { baseURL: `${front.url}/v1` } })),
  ],
  [
    "@langchain/anthropic",
    () => langchain(new ChatAnthropic({ model, apiKey, anthropicApiUrl: front.url, maxTokens: 99 })),
  ],
])("%s reads on over keep-alives", async (_, ask) => {
  expect(await ask()).toBe("Hello");
});

test.each([
  ["/v1/chat/completions", ": keepalive\n", 6],
  ["/v1/messages", 'event: ping\ndata: {"type":"ping"}\n\n', 6],
])("%s has them", async (path, keepAlive, times) => {
  const body = JSON.stringify({ ...params, stream: true });
  const response = await fetch(front.url + path, { method: "POST", body });
  expect((await response.text()).split(keepAlive)).toHaveLength(times + 1);
});
