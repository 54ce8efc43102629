import { once } from "node:events";
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { standstill } from "../../../support/standstill.ts";
import { startFront } from "../front-server.ts";
import { RawClient } from "../raw-client.ts";
import { answer, finished, refused, scriptedCore, started } from "../scripted-core.ts";
import { open, request, text } from "./fed-stream.ts";

test("the head tells clients and proxies not to hold anything back", async () => {
  await using front = await startFront(scriptedCore().transport);
  const headers = { "accept-encoding": "gzip", accept: "application/json" };
  const response = await fetch(`${front.url}/v1/chat/completions`, { method: "POST", body: request, headers });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-request-id": response.headers.get("request-id"),
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "59",
    "x-ratelimit-reset-requests": "1.5s",
    "anthropic-ratelimit-requests-limit": "60",
    "anthropic-ratelimit-requests-remaining": "59",
    "anthropic-ratelimit-requests-reset": "2026-01-31T12:00:01Z",
  });
  expect(response.headers.get("content-encoding")).toBeNull();
  await response.text();
});

describe("the status is held back", () => {
  test("so that a failure before the first output keeps its own", async () => {
    const { front, feed, client } = await open("/v1/chat/completions");
    await using _front = front;
    expect(client.received).toBe("");
    feed.send(refused(Reason.OVERLOADED, "Busy.", Code.Unavailable));
    await client.until(/^HTTP\/1.1 503 /);
    client.socket.destroy();
  });

  test("until the first output", async () => {
    const { front, feed, client } = await open("/v1/completions");
    await using _front = front;
    feed.send([started()]);
    await client.until(/^HTTP\/1.1 200 .*\r\n\r\n$/s); // which this format says nothing about
    feed.send([text("a")]);
    await client.until(/"text":"a"/);
    client.socket.destroy();
  });

  test.each([
    ["/v1/chat/completions", /\r\n: keepalive\n\r\n/],
    ["/v1/messages", /event: ping\ndata: \{"type":"ping"\}\n\n/],
  ])("at most 30 s; then %s keeps the line alive", async (path, keepAlive) => {
    const { front, clock, feed, client } = await open(path);
    await using _front = front;
    clock.advance(29_999);
    await new Promise(setImmediate);
    expect(client.received).toBe("");
    clock.advance(1);
    await client.until(/^HTTP\/1.1 200 /);
    await client.until(keepAlive);
    feed.send(refused(Reason.ENGINE_FAILED, "Broken.", Code.Unavailable));
    feed.send(undefined);
    await client.until(/Broken\..*0\r\n\r\n$/s);
    client.socket.destroy();
  });
});

test("a keep-alive goes out after every 15 s of silence", async () => {
  const { front, clock, feed, client } = await open("/v1/chat/completions");
  await using _front = front;
  const count = () => client.received.split(": keepalive\n").length - 1;
  feed.send([started()]);
  await client.until(/assistant/);
  clock.advance(10_000);
  feed.send([text("one")]);
  await client.until(/one/);
  clock.advance(14_999);
  await new Promise(setImmediate);
  expect(count()).toBe(0);
  clock.advance(1);
  await client.until(/: keepalive\n/);
  clock.advance(15_000);
  await client.until(/: keepalive\n.*: keepalive\n/s);
  feed.send([finished()]);
  feed.send(undefined);
  await client.until(/0\r\n\r\n$/);
  expect(count()).toBe(2);
  expect(clock.pending).toBe(0);
  client.socket.destroy();
});

test("what comes in one batch goes out in one write", async () => {
  const { front, feed, client } = await open("/v1/chat/completions");
  await using _front = front;
  feed.send([started(), text("a"), text("b")]);
  const [, length, chunk] = await client.until(/\r\n\r\n([0-9a-f]+)\r\n(.*)\r\n$/s);
  expect(Buffer.byteLength(chunk ?? "")).toBe(Number.parseInt(length ?? "", 16));
  expect(chunk?.match(/^data: /gm)).toHaveLength(3);
  client.socket.destroy();
});

test("an answer that breaks off is an error, and is logged", async () => {
  const { front, feed, client } = await open("/v1/chat/completions");
  await using _front = front;
  feed.send([started(), text("a")]);
  feed.send(undefined);
  await client.until(/"internal_error".*\[DONE\]\n\n\r\n0\r\n\r\n$/s);
  expect(client.received).not.toContain('"finish_reason":"');
  expect(front.errors).toHaveLength(1);
  client.socket.destroy();
});

test("a client that leaves ends the core's work", async () => {
  const { front, feed, client } = await open("/v1/chat/completions");
  await using _front = front;
  feed.send([started(), text("a")]);
  await client.until(/"a"/);
  client.socket.destroy();
  await feed.closed.promise;
  expect(front.errors).toEqual([]);
});

test("a client that leaves before the first output, or asked for no stream, ends the core's work too", async () => {
  for (const stream of [true, false]) {
    const body = JSON.stringify({ ...JSON.parse(request), stream });
    const { front, feed, client } = await open("/v1/chat/completions", body);
    await using _front = front;
    client.socket.destroy();
    await feed.closed.promise;
    expect(front.errors).toEqual([]);
  }
});

describe("a client that reads too slowly", () => {
  const big = "x".repeat(65_536);

  test("holds the core back instead of filling memory", async () => {
    let sent = 0;
    const total = 1000;
    const { transport } = scriptedCore({
      async *generate() {
        yield { events: [started()] };
        for (; sent < total; sent++) {
          yield { events: [text(big)] };
        }
        yield { events: [finished()] };
      },
    });
    await using front = await startFront(transport);
    const client = new RawClient(front.url);
    client.post("/v1/chat/completions", request);
    client.socket.pause();
    // The kernel's buffers take some megabytes; then the core has to wait.
    expect(await standstill("events sent", () => sent)).toBeLessThan(total);
    let length = 0;
    client.socket.removeAllListeners("data");
    client.socket.on("data", (part) => {
      length += part.length;
    });
    client.socket.resume();
    while (sent < total) {
      await once(client.socket, "data");
    }
    client.socket.destroy();
    expect(length).toBeGreaterThan((total / 2) * big.length);
  });

  test("and not at all for a minute, is given up", async () => {
    const clock = new ManualClock();
    const left = Promise.withResolvers<void>();
    const { transport } = scriptedCore({
      async *generate(_request, { signal }) {
        signal.addEventListener("abort", () => left.resolve());
        yield { events: [started()] };
        for (;;) {
          yield { events: [text(big)] };
        }
      },
    });
    await using front = await startFront(transport, { clock });
    const client = new RawClient(front.url);
    client.post("/v1/chat/completions", request);
    client.socket.pause();
    let isLeft = false;
    left.promise.then(() => {
      isLeft = true;
    });
    await eventually("the core is told that the client is given up", () => {
      clock.advance(15_000);
      return isLeft;
    });
    client.socket.destroy();
  });
});

test("an unstreamed answer is gathered", async () => {
  const events = [started(), text("a"), text("b"), finished(2)];
  const { transport } = scriptedCore({
    async *generate() {
      for (const event of events) {
        yield { events: [event] };
      }
    },
  });
  await using front = await startFront(transport);
  const response = await fetch(`${front.url}/v1/chat/completions`, {
    method: "POST",
    body: request.replace("true", "false"),
  });
  expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("59");
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: "ab" }, finish_reason: "length" }] });
});

test("an unstreamed answer that breaks off is an error", async () => {
  const { transport } = scriptedCore({
    async *generate() {
      yield { events: answer("a").slice(0, 2) };
    },
  });
  await using front = await startFront(transport);
  const response = await fetch(`${front.url}/v1/chat/completions`, {
    method: "POST",
    body: request.replace("true", "false"),
  });
  expect(response.status).toBe(500);
  expect(front.errors).toHaveLength(1);
});
