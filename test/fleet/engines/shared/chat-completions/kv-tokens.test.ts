import type { ServerResponse } from "node:http";
import { expect, test } from "@jest/globals";
import { systemClock } from "#lib/time/clock.ts";
import { sglang } from "#src/fleet/engines/sglang/dialect.ts";
import { ChatCompletionsEngine } from "#src/fleet/engines/shared/chat-completions/engine.ts";
import { json, scriptedServer } from "../../scripted-server.ts";

const settings = {
  connections: 4,
  clock: systemClock,
  connectTimeoutMs: 1000,
  silenceTimeoutMs: 10_000,
  kind: "generation" as const,
  capacity: 4,
  systemAnywhere: false,
  contextLength: 100,
};
const never = () => new AbortController().signal;

/** An engine whose server answers the size of its KV cache as `told` does, and is healthy as `isHealthy` says. */
async function start() {
  const state = { isHealthy: true, told: (response: ServerResponse) => json(response, { max_total_num_tokens: 5000 }) };
  const server = await scriptedServer({
    "/health": (_, response) => void response.writeHead(state.isHealthy ? 200 : 503).end(),
    "/metrics": (_, response) => void response.end("sglang:num_running_reqs 3\n"),
    "/server_info": (_, response) => state.told(response),
  });
  const engine = new ChatCompletionsEngine(server.url, sglang, settings);
  const asked = () => server.received.filter(({ path }) => path === "/server_info").length;
  const close = () => Promise.all([engine.close(), server[Symbol.asyncDispose]()]);
  return { engine, state, asked, close };
}

test("the size of the KV cache is asked until it is answered, and tells nothing against the rest of the load", async () => {
  const { engine, state, asked, close } = await start();
  const answer = state.told;
  state.told = () => {};
  const late = AbortSignal.timeout(200);
  expect(await engine.readLoad(late)).toEqual({ running: 3 });
  state.told = (response) => json(response, {}, 500);
  expect(await engine.readLoad(never())).toEqual({ running: 3 });
  state.told = answer;
  expect(await engine.readLoad(never())).toEqual({ running: 3, kvTokens: 5000 });
  expect(await engine.readLoad(never())).toEqual({ running: 3, kvTokens: 5000 });
  expect(asked()).toBe(3);
  await close();
});

test("it is asked again after the server was down or gone, which may tell none then", async () => {
  const { engine, state, close } = await start();
  expect(await engine.readLoad(never())).toEqual({ running: 3, kvTokens: 5000 });
  state.told = (response) => json(response, { max_total_num_tokens: 7000 });
  state.isHealthy = false;
  await expect(engine.checkHealth(never())).rejects.toThrow();
  expect(await engine.readLoad(never())).toEqual({ running: 3, kvTokens: 7000 });
  state.told = (response) => json(response, {});
  const gone = AbortSignal.abort(new Error("gone"));
  await expect(engine.checkHealth(gone)).rejects.toThrow();
  expect(await engine.readLoad(never())).toEqual({ running: 3 });
  await close();
});
