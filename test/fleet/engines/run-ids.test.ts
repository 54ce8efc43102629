import { expect, test } from "@jest/globals";
import { systemClock } from "#lib/time/clock.ts";
import { registry } from "#src/fleet/engines/drivers/registry.ts";
import { drain } from "./collect.ts";
import { chatRequest } from "./requests.ts";
import { json, scriptedServer } from "./scripted-server.ts";

const settings = {
  ...{ kind: "generation" as const, capacity: 2, connections: 2, systemAnywhere: false, contextLength: 4096 },
  ...{ clock: systemClock, connectTimeoutMs: 2000, silenceTimeoutMs: 2000 },
} as const;
const never = () => new AbortController().signal;

test.each(["vllm", "sglang", "trtllm", "llama.cpp", "openai", "ollama"] as const)(
  "%s hears the id of the run and never that of the caller, which two accounts may share",
  async (name) => {
    const refuse = (_: unknown, response: Parameters<typeof json>[0]) => json(response, { error: "no" }, 400);
    const paths = ["/v1/chat/completions", "/api/chat", "/v1/embeddings", "/api/embed"];
    await using server = await scriptedServer(Object.fromEntries(paths.map((path) => [path, refuse])));
    const engine = registry[name].create(server.url, settings);
    const requestId = "chosen-by-both";
    for (const runId of ["run-a", "run-b"]) {
      await drain(engine.generate(chatRequest("hi", { requestId, runId }), never()));
      const embed = { requestId, runId, model: "m", inputs: ["hi"] };
      await engine.embed(embed, never()).catch(() => {}); // refused, as everything here
    }
    const asked = server.received.filter(({ path }) => paths.includes(path));
    expect([...new Set(asked.map(({ headers }) => headers["x-request-id"]))]).toEqual(["run-a", "run-b"]);
    expect(JSON.stringify(server.received)).not.toContain(requestId);
    const chats = asked.filter(({ path }) => path === "/v1/chat/completions");
    if (name === "sglang") {
      expect(chats.map(({ body }) => body.rid)).toEqual(["run-a", "run-b"]);
    }
    await engine.close();
  },
);
