import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { faultInHeader, faultInPrompt } from "../../simulator/faults.ts";
import { type DialectName, dialectNames } from "../../simulator/options.ts";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { eventually } from "../support/eventually.ts";
import { type Answer, ask, call, eventsIn, joined, post, raw, stream } from "./client.ts";

let sim: Simulator;
beforeAll(async () => {
  sim = await startSimulator({ models: ["m", { id: "e", kind: "embedding" }], speed: 0 });
});
afterEach(() => sim.faults.clear());
afterAll(() => sim.close());

const chat = "/v1/chat/completions";
const counted = { stream_options: { include_usage: true } };

test("reads faults from a header and from a prompt, where the server cannot be killed", () => {
  expect(faultInHeader("status=503; retry=7")).toEqual({ status: 503, retry: 7 });
  expect(faultInHeader("usage=missing;done=missing; pings; cut=x; nonsense=1")).toEqual({
    usage: "missing",
    done: "missing",
    pings: true,
  });
  const directives = [
    { name: "die", value: "0" },
    { name: "cut", value: "3" },
  ];
  expect(faultInPrompt(directives)).toEqual({ cut: 3 });
});

test("a status, with the hint to come back", async () => {
  const response = await post(sim, chat, ask("Hello"), { "x-sim-fault": "status=503; retry=7" });
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "7"]);
  expect((await post(sim, chat, ask("Hello"))).status).toBe(200);
});

test("by a directive in the prompt", async () => {
  expect((await post(sim, chat, ask("Hello [[sim:status=429]]"))).status).toBe(429);
});

test("switched on and off while it runs, for a model, a path, a number of times", async () => {
  const status = async () => (await post(sim, chat, ask("Hello", { model: "m" }))).status;
  const off = sim.faults.add({ status: 500 });
  expect([await status(), await status()]).toEqual([500, 500]);
  off();
  expect(await status()).toBe(200);
  sim.faults.add({ status: 500 }, { times: 2 });
  expect([await status(), await status(), await status()]).toEqual([500, 500, 200]);
  sim.faults.add({ status: 500 }, { model: "other" });
  sim.faults.add({ status: 500 }, { path: "/v1/completions" });
  expect(await status()).toBe(200);
  sim.faults.add({ status: 500 }, { model: "m", path: chat });
  expect(await status()).toBe(500);
});

test("switched on and off from another process", async () => {
  await call(sim, "/sim/faults", { fault: { status: 500 }, scope: { times: 2 } });
  expect((await post(sim, chat, ask("Hello"))).status).toBe(500);
  await fetch(`${sim.url}/sim/faults`, { method: "DELETE" });
  expect((await post(sim, chat, ask("Hello"))).status).toBe(200);
  expect((await post(sim, "/sim/faults", {})).status).toBe(400);
});

test.each(["cut", "reset"])("%s: the connection breaks in the middle of a stream", async (fault) => {
  const { parts, error } = await raw(sim, chat, ask(`[[sim:tokens=20]] [[sim:${fault}=5]]`, { stream: true }));
  expect(error).toBeDefined();
  // What was sent just before a reset may be lost with it.
  const chunks = eventsIn(Buffer.concat(parts).toString());
  if (fault === "cut") {
    expect(chunks).toHaveLength(1 + 5);
  }
  await eventually("the engine is idle", () => sim.metrics("m").running === 0);
});

test.each(["cut", "reset"])("%s: the connection breaks without an answer", async (fault) => {
  const { parts, error } = await raw(sim, chat, ask(`[[sim:${fault}=5]]`));
  expect([parts, error]).toEqual([[], expect.any(String)]);
});

test.each<[DialectName, Answer[]]>([
  ["vllm", [expect.objectContaining({ error: expect.objectContaining({ code: 500 }) }), "[DONE]"]],
  ["sglang", [expect.objectContaining({ error: expect.objectContaining({ object: "error" }) }), "[DONE]"]],
  ["llama.cpp", [expect.objectContaining({ error: expect.objectContaining({ type: "server_error" }) })]],
  ["openai", [expect.objectContaining({ error: expect.objectContaining({ type: "server_error" }) })]],
  ["ollama", []],
])("error: %s fails inside the stream, under status 200", async (dialect, ending) => {
  const other = await startSimulator({ dialect, models: ["m"], speed: 0 });
  const response = await post(other, chat, ask("[[sim:tokens=20]] [[sim:error=5]]", { stream: true }));
  expect(response.status).toBe(200);
  const chunks = eventsIn(await response.text());
  const texts = chunks.filter((chunk) => chunk.choices?.[0]?.delta?.content).length;
  expect(texts).toBe(5);
  expect(chunks.slice(chunks.length - ending.length)).toEqual(ending);
  expect(chunks.every((chunk) => !chunk.choices?.[0]?.finish_reason)).toBe(true);
  await other.close();
});

test("error: without a stream it is a status", async () => {
  expect((await post(sim, chat, ask("[[sim:error=5]]"))).status).toBe(500);
});

test("stall: it falls silent and keeps its place until the reader goes", async () => {
  const gone = new AbortController();
  const response = await fetch(sim.url + chat, {
    method: "POST",
    body: JSON.stringify(ask("[[sim:tokens=20]] [[sim:stall=3]]", { stream: true })),
    signal: gone.signal,
  });
  const reader = response.body?.getReader();
  let text = "";
  while (eventsIn(text).length < 4) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) {
      throw new Error("ended early");
    }
    text += Buffer.from(value ?? []).toString();
  }
  expect(sim.metrics("m").running).toBe(1);
  gone.abort();
  await eventually("the engine is idle", () => sim.metrics("m").running === 0);
});

test("latency: nothing happens before its time", async () => {
  const clock = new ManualClock();
  const after = clock.after.bind(clock);
  let timers = 0;
  clock.after = (ms, callback) => {
    timers++;
    return after(ms, callback);
  };
  const late = await startSimulator({ models: ["m"], speed: 0, clock, fault: { latency: 500 } });
  let answered = false;
  const answer = post(late, chat, ask("Hello")).then(() => {
    answered = true;
  });
  await eventually("the timer is set", () => timers === 1);
  clock.advance(499);
  await fetch(`${late.url}/health`);
  expect(answered).toBe(false);
  clock.advance(1);
  await answer;
  await late.close();
});

test("die: the server is gone", async () => {
  const mortal = await startSimulator({ models: ["m"], speed: 0 });
  const { error } = await raw(mortal, chat, ask("Hello [[sim:die=0]]"));
  expect(error).toBeUndefined();
  mortal.faults.add({ die: 3 });
  expect((await raw(mortal, chat, ask("[[sim:tokens=20]]", { stream: true }))).error).toBeDefined();
  await expect(post(mortal, chat, ask("Hello"))).rejects.toThrow();
});

test.each(dialectNames.filter((name) => name !== "tei"))("usage: %s tells none, or wrong ones", async (dialect) => {
  const other = await startSimulator({ dialect, models: ["m"], speed: 0 });
  const usage = async (fault: string) => {
    const chunks = await stream(other, chat, ask(`[[sim:tokens=10]] [[sim:usage=${fault}]]`, counted));
    const last = chunks.findLast((chunk) => chunk.usage ?? chunk.timings);
    return last?.usage?.completion_tokens;
  };
  expect([await usage("missing"), await usage("zero"), await usage("double")]).toEqual([undefined, 0, 20]);
  await other.close();
});

test("done: the last event is missing", async () => {
  const chunks = await stream(sim, chat, ask("[[sim:done=missing]]", counted));
  expect(chunks.at(-1).usage).toBeDefined();
});

test("pings: comments come in between", async () => {
  const response = await post(sim, chat, ask("[[sim:tokens=100]] [[sim:pings]]", { stream: true }));
  const text = await response.text();
  expect(text.match(/^: ping$/gm)?.length).toBeGreaterThan(2);
  expect(eventsIn(text)).toHaveLength(1 + 100 + 1);
});

test("split: characters and events come apart on the way and are whole in the end", async () => {
  const question = ask("[[sim:text=Grüße 👋 東京]] [[sim:split=3]]", { stream: true });
  const { parts } = await raw(sim, chat, question);
  expect(parts.length).toBeGreaterThan(50);
  expect(joined(eventsIn(Buffer.concat(parts).toString()), "content")).toBe("Grüße 👋 東京");
});

test("embeddings have faults too", async () => {
  const input = { model: "e", input: "x" };
  sim.faults.add({ status: 500 }, { path: "/v1/embeddings", times: 1 });
  expect((await post(sim, "/v1/embeddings", input)).status).toBe(500);
  for (const fault of [{ cut: 0 }, { reset: 0 }]) {
    sim.faults.add(fault, { times: 1 });
    await expect(post(sim, "/v1/embeddings", input)).rejects.toThrow();
  }
  expect((await post(sim, "/v1/embeddings", input)).status).toBe(200);
});
