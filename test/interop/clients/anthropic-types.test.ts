import { readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { models, type Service, startService } from "../../support/service.ts";

// Clients that are generated from the original service's schema refuse answers without a field that it requires, even
// where the value would be null. The newest SDK's types are made from that schema.

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const folder = "node_modules/@anthropic-ai/sdk/resources";
const declarations = ["messages/messages", "beta/messages/messages", "models", "beta/models"]
  .map((file) => readFileSync(`${folder}/${file}.d.ts`, "utf8"))
  .join("\n");

/** Left out, because widely used clients of the original service refuse null there. */
const omitted = ["citations"];

/** The properties that a type of the SDK requires. `name` may be nested: "Event.Delta". */
function requiredOf(name: string): string[] {
  const [outer = "", inner] = name.split(".");
  const block = (kind: string, of: string, text: string, indent: string) =>
    new RegExp(`^${indent}(?:export )?(?:declare )?${kind} ${of} \\{\\n(.*?)^${indent}\\}`, "ms").exec(text)?.[1] ?? "";
  const body =
    inner === undefined
      ? block("interface", outer, declarations, "")
      : block("interface", inner, block("namespace", outer, declarations, ""), " {4}");
  const indent = inner === undefined ? " {4}" : " {8}";
  const found = [...body.matchAll(new RegExp(`^${indent}(\\w+):`, "gm"))].map(([, property = ""]) => property);
  expect(found).not.toEqual([]);
  return found.filter((property) => !omitted.includes(property));
}

function expectAll(value: unknown, ...types: string[]) {
  for (const type of types) {
    expect(Object.keys(value as object)).toEqual(expect.arrayContaining(requiredOf(type)));
  }
}

const ask = {
  model: models.on,
  max_tokens: 500,
  messages: [{ role: "user" as const, content: "[[sim:tools=1]]" }],
  tools: [{ name: "clock", input_schema: { type: "object" as const, properties: {} } }],
};
const client = () => new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });

const usages = ["Usage", "BetaUsage"];
const blocks: Readonly<Record<string, string>> = { thinking: "Thinking", text: "Text", tool_use: "ToolUse" };

test("a message has every field that the original requires", async () => {
  for (const params of [ask, { ...ask, tools: [] }]) {
    const message = await client().messages.create(params);
    expectAll(message, "Message", "BetaMessage");
    expectAll(message.usage, ...usages);
    for (const block of message.content) {
      expectAll(block, `${blocks[block.type]}Block`, `Beta${blocks[block.type]}Block`);
    }
  }
});

test("so has a stream", async () => {
  const stream = await client().messages.create({ ...ask, stream: true });
  const kinds = new Set<string>();
  for await (const event of stream) {
    kinds.add(event.type);
    if (event.type === "message_start") {
      expectAll(event.message, "Message", "BetaMessage");
      expectAll(event.message.usage, ...usages);
    } else if (event.type === "content_block_start") {
      expectAll(event.content_block, `${blocks[event.content_block.type]}Block`);
    } else if (event.type === "message_delta") {
      expectAll(event, "RawMessageDeltaEvent", "BetaRawMessageDeltaEvent");
      expectAll(event.delta, "RawMessageDeltaEvent.Delta", "BetaRawMessageDeltaEvent.Delta");
      expectAll(event.usage, "MessageDeltaUsage", "BetaMessageDeltaUsage");
    }
  }
  expect([...kinds]).toEqual(expect.arrayContaining(["message_start", "content_block_start", "message_delta"]));
});

test("so have models and counts", async () => {
  for await (const model of client().models.list()) {
    expectAll(model, "ModelInfo", "BetaModelInfo");
  }
  const { max_tokens: _, ...counted } = ask;
  expectAll(await client().messages.countTokens(counted), "MessageTokensCount", "BetaMessageTokensCount");
});
