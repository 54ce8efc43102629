import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// A caller who goes away, with an engine of which the test sees the connections. Real processes, real sockets.

/** The longest from the caller's going to the engine's hearing of it, for a machine that is busy. */
const bound = 5000;

const model = "m";
const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };

/** A call that reached the engine, and the end of its connection. */
interface Call {
  readonly response: ServerResponse;
  readonly closed: Promise<unknown>;
}

let engine: Server;
let site: Site;
let tollgate: Tollgate;
let key: string;
let calls: Call[] = [];
let onCall: () => void = () => {};

beforeAll(async () => {
  engine = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    incoming.resume();
    if (incoming.method !== "POST") {
      response.end(JSON.stringify({ object: "list", data: [{ id: model, object: "model" }] }));
      return;
    }
    calls.push({ response, closed: once(incoming.socket, "close") });
    onCall();
  }).listen(0, "127.0.0.1");
  await once(engine, "listening");
  site = await createSite();
  const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;
  // Longer than any test: what stops the engine is the caller's going, not a timeout of the fleet.
  const fleet = { first_token_timeout_s: 600, idle_timeout_s: 600 };
  const config = { ...freePorts, fleet, models: [{ id: model, servers: [{ url, engine: "openai" }] }] };
  tollgate = await startTollgate(site, "serve", "--config", await site.configure(config));
  const { id } = (await tollgate.admin("accounts", "create")) as { id: string };
  ({ key } = (await tollgate.admin("keys", "create", id)) as { key: string });
}, 60_000);
afterAll(async () => {
  await tollgate?.stop();
  engine.close().closeAllConnections();
  await site?.remove();
});

/** The next call to the engine. */
async function nextCall(): Promise<Call> {
  calls = [];
  await new Promise<void>((resolve) => {
    onCall = resolve;
  });
  return calls[0] as Call;
}

test.each([
  ["/v1/chat/completions", true, true],
  ["/v1/chat/completions", true, false],
  ["/v1/chat/completions", false, false],
  ["/v1/messages", true, true],
  ["/v1/messages", true, false],
  ["/v1/messages", false, false],
])("%s, streamed: %s, begun: %s: the engine's connection closes with the caller's", async (path, stream, begun) => {
  const body = { model, stream, max_tokens: 100, messages: [{ role: "user", content: "Hi" }] };
  const headers = { authorization: `Bearer ${key}`, "anthropic-version": "2023-06-01" };
  const caller = request(`${tollgate.url}${path}`, { method: "POST", headers }).on("error", () => {});
  const reached = nextCall();
  caller.end(JSON.stringify(body));
  const { response, closed } = await reached;
  if (begun) {
    response.setHeader("content-type", "text/event-stream");
    const choices = [{ index: 0, delta: { content: "Hello" }, finish_reason: null }];
    response.write(`data: ${JSON.stringify({ choices, usage })}\n\n`);
    const [answer] = (await once(caller, "response")) as [IncomingMessage];
    answer.on("error", () => {});
    await once(answer, "data");
  }
  const since = performance.now();
  caller.destroy();
  await closed;
  expect(performance.now() - since).toBeLessThan(bound);
});

/** Asks, and resolves with the caller and so many calls that have reached the engine because of it. */
async function reach(count: number, url: string, headers: Record<string, string>, body: string | Buffer) {
  calls = [];
  const reached = new Promise<void>((resolve) => {
    onCall = () => {
      if (calls.length === count) {
        resolve();
      }
    };
  });
  const caller = request(url, { method: "POST", headers }).on("error", () => {});
  caller.end(body);
  await reached;
  return { caller, closed: Promise.all(calls.map((call) => call.closed)) };
}

test.each([true, false])(
  "over Connect, gathered: %s: the engine's connection closes with the caller's",
  async (gathered) => {
    const message = Buffer.from(JSON.stringify({ model, text: "Hi", maxOutputTokens: 100, gathered }));
    const envelope = Buffer.alloc(5);
    envelope.writeUInt32BE(message.length, 1);
    const { caller, closed } = await reach(
      1,
      `http://${tollgate.addresses.connect}/tollgate.inference.v1.InferenceService/Generate`,
      { authorization: `Bearer ${key}`, "content-type": "application/connect+json" },
      Buffer.concat([envelope, message]),
    );
    const since = performance.now();
    caller.destroy();
    await closed;
    expect(performance.now() - since).toBeLessThan(bound);
  },
);

test.each([true, false])(
  "a batch, streamed: %s: all of its calls to the engine end with the caller",
  async (stream) => {
    const prompt = ["one", "two", "three"];
    const headers = { authorization: `Bearer ${key}` };
    const body = JSON.stringify({ model, prompt, max_tokens: 10, stream });
    const { caller, closed } = await reach(3, `${tollgate.url}/v1/completions`, headers, body);
    const since = performance.now();
    caller.destroy();
    await closed;
    expect(performance.now() - since).toBeLessThan(bound);
    expect(calls).toHaveLength(3);
  },
);
