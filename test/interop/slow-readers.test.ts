import { connect, type Socket } from "node:net";
import { createClient } from "@connectrpc/connect";
import { afterEach, expect, test } from "@jest/globals";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import { eventually } from "../support/eventually.ts";
import { type Service, serveModels } from "../support/service.ts";

// One account reads slowly, or not at all, and takes no other account's place by that.

let simulator: Simulator;
/** Embeds: models at one address share its places, and a place of the account is what these tests look for. */
let embedder: Simulator;
let service: Omit<Service, "idle">;
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) {
    socket.destroy();
  }
  sockets = [];
  await service[Symbol.asyncDispose]();
  await Promise.all([simulator.close(), embedder.close()]);
});

/** Serves a simulated engine with so many places; who finds none waits long enough for answers that are made, not read. */
async function start(
  capacity: number,
  isSplit: boolean,
  { speed = 0, ...more }: Parameters<typeof serveModels>[1] & { readonly speed?: number } = {},
): Promise<void> {
  simulator = await startSimulator({
    models: [{ id: "m", contextLength: 524_288, gpu: { kvTokens: 1_048_576 } }],
    speed,
  });
  embedder = await startSimulator({ models: [{ id: "e", kind: "embedding" }], speed });
  const serversOf = ({ url }: Simulator) => [{ url, engine: "vllm" as const, capacity }];
  const fleet = { queue_timeout_s: 100 };
  const models = [
    { id: "m", context_length: 524_288, servers: serversOf(simulator) },
    {
      ...{ id: "e", kind: "embedding" as const, context_length: 8192, price: { input: "0.01" } },
      servers: serversOf(embedder),
    },
  ];
  service = await serveModels(models, { fleet, ...more }, isSplit);
}

const wish = (tokens: number) => `[[sim:tokens=${tokens}]]`;

function chat(key: string, content: string, stream = false, signal?: AbortSignal): Promise<Response> {
  return fetch(`${service.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content }], max_tokens: 60_000, stream }),
    signal: signal ?? null,
  });
}

/** Asks for a streamed answer on a socket of its own and reads nothing of it. */
function neverRead(tokens: number): Socket {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname).on("error", () => {});
  sockets.push(socket);
  const messages = [{ role: "user", content: wish(tokens) }];
  const body = JSON.stringify({ model: "m", messages, max_tokens: tokens, stream: true });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${service.key}\r\n`;
  socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  socket.pause();
  return socket;
}

/** How many of so many requests of another account, one after the other, are answered. */
async function served(requests: number): Promise<number> {
  const key = await service.anotherKey();
  let answered = 0;
  for (let i = 0; i < requests; i++) {
    const response = await chat(key, wish(5));
    await response.text();
    if (response.status === 200) {
      answered++;
    }
  }
  return answered;
}

test.each([
  ["all in one", false],
  ["split", true],
])(
  "%s: unread streams leave the places of a model to others",
  async (_, isSplit) => {
    await start(4, isSplit);
    // Longer, as events, than the sockets' buffers between the two.
    for (let i = 0; i < 5; i++) {
      neverRead(30_000);
    }
    await eventually("the engine runs", () => simulator.metrics().running > 0);
    expect(await served(5)).toBe(5);
    await eventually("the engine is idle", () => simulator.metrics().running === 0);
  },
  120_000,
);

test("long streams of one account that begin together leave a place to others, who are served at once", async () => {
  await start(8, false, { speed: 1 });
  const leaving = new AbortController();
  const streams = Array.from({ length: 10 }, () =>
    chat(service.key, wish(50_000), true, leaving.signal).catch(() => {}),
  );
  await eventually("the engine runs what one account may", () => simulator.metrics().running === 7);
  expect(await served(3)).toBe(3);
  await eventually("the streams run on", () => simulator.metrics().running === 7);
  leaving.abort();
  await Promise.all(streams);
}, 120_000);

test("18 callers over gRPC that do not read leave all of 16 places to others", async () => {
  await start(16, true);
  const transport = createChannelTransport({ target: service.grpc ?? "" });
  const client = createClient(InferenceService, transport);
  const headers = { authorization: `Bearer ${service.key}` };
  const prompt = { case: "text" as const, value: wish(4000) };
  const leaving = new AbortController();
  const calls = Array.from({ length: 18 }, () =>
    client
      .generate({ model: "m", prompt, maxOutputTokens: 4000 }, { headers, signal: leaving.signal })
      [Symbol.asyncIterator](),
  );
  await Promise.all(calls.map((call) => call.next()));
  expect(await served(5)).toBe(5);
  await eventually("the engine is idle", () => simulator.metrics().running === 0);
  // What was read ahead is whole.
  let tokens = 0;
  for (;;) {
    const { done, value } = (await calls[0]?.next()) ?? { done: true };
    if (done) {
      break;
    }
    const finished = value?.events.at(-1)?.event;
    if (finished?.case === "finished") {
      tokens = Number(finished.value.usage?.outputTokens ?? 0n);
    }
  }
  expect(tokens).toBe(4000);
  leaving.abort(); // the connection closes when no call is left
  transport.close();
}, 120_000);

// More than all the buffers between the engine and its reader can hold.
const answerTokens = 500_000;

test("a reader that stays too slow is broken off and pays for what ran", async () => {
  const readers = { buffer_kib: 4, patience_s: 0.4, min_bytes_per_s: 1e6 };
  await start(64, true, { readers });
  const transport = createChannelTransport({ target: service.grpc ?? "" });
  const client = createClient(InferenceService, transport);
  const prompt = { case: "text" as const, value: wish(answerTokens) };
  const request = { requestId: "slow", model: "m", prompt, maxOutputTokens: answerTokens };
  const call = client.generate(request, { headers: { authorization: `Bearer ${service.key}` } });
  const reader = call[Symbol.asyncIterator]();
  await reader.next();
  await eventually("the engine is idle", () => simulator.metrics().running === 0);
  const rest = async () => {
    while (!(await reader.next()).done) {}
  };
  await expect(rest()).rejects.toThrow("The answer was read too slowly");
  const receipt = await service.receipt("slow");
  expect(receipt?.status).toBe(ReceiptStatus.CANCELLED);
  expect(receipt?.outputTokens).toBeGreaterThan(0);
  expect(receipt?.outputTokens).toBeLessThan(answerTokens);
  transport.close();
}, 60_000);

test("an account runs so many requests at once, and the next as soon as one has ended", async () => {
  await start(64, false, { rate_tiers: [{ rpm: 1000, in_flight: 2 }] });
  const stall = "[[sim:stall=2]] [[sim:tokens=9]]";
  const running = [chat(service.key, stall, true), chat(service.key, stall, true)];
  const bodies = (await Promise.all(running)).map(({ body }) => body?.getReader());
  const refused = await chat(service.key, wish(5));
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await refused.json()).toMatchObject({
    error: { type: "rate_limit_error", message: expect.stringContaining("2 requests at once") },
  });
  const messages = await fetch(`${service.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": service.key, "content-type": "application/json" },
    body: JSON.stringify({ model: "m", max_tokens: 5, messages: [{ role: "user", content: "Hi" }] }),
  });
  expect([messages.status, await messages.json()]).toMatchObject([429, { error: { type: "rate_limit_error" } }]);
  expect(await served(3)).toBe(3);
  await bodies[0]?.cancel();
  for (const which of ["next", "one after it"]) {
    await eventually(`the ${which} has its place`, async () => (await chat(service.key, wish(5))).status === 200);
  }
  await bodies[1]?.cancel();
});

const stall = "[[sim:stall=2]] [[sim:tokens=9]]";

function embed(key: string): Promise<Response> {
  return fetch(`${service.url}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "e", input: "Hi" }),
  });
}

test("embeddings take places of their account as all requests do, and give them back", async () => {
  await start(64, false, { rate_tiers: [{ rpm: 1000, in_flight: 2 }] });
  const running = await chat(service.key, stall, true);
  const both = await Promise.all([embed(service.key), embed(service.key)]);
  expect(both.map(({ status }) => status).sort()).toContain(200);
  expect((await embed(service.key)).status).toBe(200);
  const another = await chat(service.key, stall, true);
  const refused = await embed(service.key);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining("2 requests at once") } });
  await another.body?.cancel();
  await eventually("the place is free", async () => (await embed(service.key)).status === 200);
  await running.body?.cancel();
});

test("an account waits for a server with its places alone, and leaves the rest of the queue to others", async () => {
  await start(1, false, { rate_tiers: [{ rpm: 1000, in_flight: 3 }] });
  const running = await chat(service.key, stall, true);
  const leaving = new AbortController();
  // Asks again when an embedding, which looks whether a place is left, has just taken it.
  const wait = (signal?: AbortSignal) =>
    eventually("it has a place", async () => {
      const { status } = await chat(service.key, wish(5), false, signal);
      return status === 429 ? undefined : status;
    }).catch((error: unknown) => (signal?.aborted ? "left" : error));
  const waiting = [wait(leaving.signal), wait()];
  await eventually("no place is left", async () => (await embed(service.key)).status === 429);
  const others = served(2);
  leaving.abort();
  expect(await waiting[0]).toBe("left");
  await eventually("who leaves the queue gives a place back", async () => (await embed(service.key)).status === 200);
  await running.body?.cancel();
  expect(await waiting[1]).toBe(200);
  expect(await others).toBe(2);
}, 60_000);
