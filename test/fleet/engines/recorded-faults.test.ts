import { readFileSync } from "node:fs";
import { Code } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import type { EngineName } from "#lib/inference/engine-names.ts";
import { systemClock } from "#lib/time/clock.ts";
import { discoverServer } from "#src/fleet/engines/drivers/discovery.ts";
import { registry } from "#src/fleet/engines/drivers/registry.ts";
import { plainAnswer, repeated, stopWord } from "../../engines-real/model/said.ts";
import { readCounts } from "../../engines-real/told.ts";
import { eventually } from "../../support/eventually.ts";
import { serveModels } from "../../support/service.ts";
import { type ScriptedServer, scriptedServer } from "./scripted-server.ts";

// What real engines did that Tollgate once got wrong, in their own bytes, through both surfaces.

const contextLength = 4096;
const read = (file: string) => readFileSync(new URL(`recordings/${file}`, import.meta.url));
const countsIn = (file: string) => readCounts({ pieces: [read(file)] });

/** A server that answers each path with a recording, and its status. */
function replay(
  recordings: Readonly<Record<string, readonly [status: number, file: string]>>,
): Promise<ScriptedServer> {
  return scriptedServer(
    Object.fromEntries(
      Object.entries(recordings).map(([path, [status, file]]) => [
        path,
        (_, response) => void response.writeHead(status).end(read(file)),
      ]),
    ),
  );
}

/** A service before it, and its surfaces. */
async function serve(engine: EngineName, { url }: ScriptedServer) {
  const thinking = { mode: "default_on" as const };
  const service = await serveModels([{ id: "m", context_length: contextLength, thinking, servers: [{ url, engine }] }]);
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${service.key}`, "content-type": "application/json" };
    const response = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    // biome-ignore lint/suspicious/noExplicitAny: JSON as a client has it
    return { status: response.status, id: response.headers.get("x-request-id"), body: (await response.json()) as any };
  };
  const ask = async (surface: Surface, content: string, stop?: string) => {
    const common = { model: "m", messages: [{ role: "user", content }], max_tokens: 100 };
    const answered =
      surface === "chat"
        ? await post("/v1/chat/completions", { ...common, reasoning_effort: "none", ...(stop && { stop: [stop] }) })
        : await post("/v1/messages", {
            ...common,
            thinking: { type: "disabled" },
            ...(stop && { stop_sequences: [stop] }),
          });
    return { ...answered, ...readAnswer(surface, answered.body) };
  };
  return { ask, post, receipt: service.receipt, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

type Surface = "chat" | "messages";
const surfaces: readonly Surface[] = ["chat", "messages"];

// biome-ignore lint/suspicious/noExplicitAny: JSON as a client has it
function readAnswer(surface: Surface, { choices, content, stop_reason, stop_sequence, usage }: any) {
  return surface === "chat"
    ? {
        text: choices?.[0]?.message.content,
        finish: choices?.[0]?.finish_reason,
        usage: usage && { input: usage.prompt_tokens, output: usage.completion_tokens },
      }
    : {
        text: content?.find(({ type }: { type: string }) => type === "text")?.text,
        finish: stop_reason,
        sequence: stop_sequence,
        usage: usage && { input: usage.input_tokens, output: usage.output_tokens },
      };
}

const question = "What do you say?";
const chatPath = "/v1/chat/completions";
/** What transformers serve tells of a model from a folder. */
const health = {
  "/v1/models": [500, "transformers/models-500.txt"],
  "/health": [200, "transformers/health-200.txt"],
} as const;

test.each(surfaces)(
  "%s: transformers serve's template sends a piece that is no token, and its count is paid",
  async (surface) => {
    await using server = await replay({ ...health, [chatPath]: [200, "transformers/plain.txt"] });
    await using service = await serve("openai", server);
    const { id, text, usage } = await service.ask(surface, question);
    expect(text).toBe(plainAnswer);
    expect(usage).toEqual(countsIn("transformers/plain.txt"));
    const receipt = await eventually("the receipt", () => service.receipt(id));
    expect(receipt).toMatchObject({
      status: ReceiptStatus.COMPLETED,
      inputTokens: usage?.input,
      outputTokens: usage?.output,
    });
  },
);

test.each(surfaces)(
  "%s: transformers serve keeps the stop sequence that it heeds, and its count is paid",
  async (surface) => {
    await using server = await replay({ ...health, [chatPath]: [200, "transformers/stop.txt"] });
    await using service = await serve("openai", server);
    const { id, text, finish, usage } = await service.ask(surface, question, stopWord);
    expect(text).toBe(plainAnswer.split(stopWord)[0]);
    expect(finish).toBe(surface === "chat" ? "stop" : "end_turn");
    expect(usage).toEqual(countsIn("transformers/stop.txt"));
    const receipt = await eventually("the receipt", () => service.receipt(id));
    expect(receipt).toMatchObject({
      status: ReceiptStatus.COMPLETED,
      inputTokens: usage?.input,
      outputTokens: usage?.output,
    });
  },
);

test.each(surfaces)(
  "%s: Ollama ends an answer of equal pieces without a word, and it is one cut by its length",
  async (surface) => {
    await using server = await replay({
      "/api/chat": [200, "ollama/repetition.txt"],
      "/api/version": [200, "ollama/version-200.txt"],
    });
    await using service = await serve("ollama", server);
    const { status, id, text, finish } = await service.ask(surface, "Repeat.");
    expect(countsIn("ollama/repetition.txt")).toBeUndefined();
    expect(status).toBe(200);
    expect(finish).toBe(surface === "chat" ? "length" : "max_tokens");
    const words = text.split(repeated.trim()).length - 1;
    const receipt = await eventually("the receipt", () => service.receipt(id));
    expect(receipt).toMatchObject({ status: ReceiptStatus.COMPLETED, outputTokens: words });
  },
);

test("transformers serve fails to list a model from a folder, and is healthy by its other word", async () => {
  await using server = await replay(health);
  const settings = {
    connections: 1,
    clock: systemClock,
    connectTimeoutMs: 10_000,
    silenceTimeoutMs: 60_000,
    kind: "generation" as const,
    capacity: 1,
    systemAnywhere: false,
    contextLength,
  };
  const engine = registry.openai.create(server.url, settings);
  await expect(engine.checkHealth(AbortSignal.timeout(10_000))).resolves.toBeUndefined();
  await engine.close();
  await expect(discoverServer(server.url, AbortSignal.timeout(10_000))).rejects.toThrow("lists no model");
});

test.each(surfaces)(
  "%s: transformers serve takes a prompt beyond the context, so that none is sent",
  async (surface) => {
    expect(countsIn("transformers/beyond-the-context.txt")?.input).toBeGreaterThan(contextLength);
    await using server = await replay({ ...health, [chatPath]: [200, "transformers/beyond-the-context.txt"] });
    await using service = await serve("openai", server);
    const { status, id, body } = await service.ask(surface, " two".repeat(contextLength + 100));
    expect(status).toBe(400);
    expect(body.error.message).toMatch(surface === "chat" ? /maximum context length/ : /prompt is too long/);
    expect(server.received.filter(({ path }) => path === chatPath)).toEqual([]);
    await expect(service.receipt(id)).rejects.toMatchObject({ code: Code.NotFound });
  },
);
