import { once } from "node:events";
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemClock } from "#lib/time/clock.ts";
import type { HttpCall } from "#src/fleet/engines/shared/http/client/interface.ts";
import { HttpPool } from "#src/fleet/engines/shared/http/client/pool.ts";
import { ManualClock } from "../../../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../../../support/eventually.ts";
import { hello, Outcome, RawServer } from "./raw-server.ts";

const options = { connections: 2, clock: systemClock, connectTimeoutMs: 2000, silenceTimeoutMs: 5000 };
const get = { method: "GET", path: "/x", headers: {}, body: undefined } as const;

let server: RawServer;
let origin: string;
let pool: HttpPool;

function send(message: Parameters<HttpPool["dispatch"]>[0] = get): { outcome: Outcome; call: HttpCall } {
  const outcome = new Outcome();
  return { outcome, call: pool.dispatch(message, outcome) };
}

beforeEach(async () => {
  server = new RawServer();
  origin = await server.listen();
  pool = new HttpPool(origin, options);
});
afterEach(() => {
  pool.destroy();
  server.close();
});

describe("a pool of connections", () => {
  test("sends a request as one message", async () => {
    const { outcome } = send({ method: "POST", path: "/v1/x?y", headers: { a: "b" }, body: "häuser" });
    expect(await outcome.over).toMatchObject({ status: 200, text: "hello" });
    const host = origin.slice("http://".length);
    expect(server.received).toEqual([
      `POST /v1/x?y HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\ncontent-length: 7\r\na: b\r\n\r\nhäuser`,
    ]);
  });

  test("uses a connection again", async () => {
    await send().outcome.over;
    await send().outcome.over;
    expect(server.sockets).toHaveLength(1);
  });

  test.each([
    ["that says so", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"],
    [
      "that promises less than the margin",
      "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 5\r\n\r\nhello",
    ],
  ])("closes a connection %s", async (_, text) => {
    server.answer = (socket) => socket.write(text);
    await send().outcome.over;
    await send().outcome.over;
    expect(server.sockets).toHaveLength(2);
  });

  test("lets calls beyond its bound wait, first come first served", async () => {
    const waiting: Socket[] = [];
    server.answer = (socket) => waiting.push(socket);
    const order: number[] = [];
    const calls = [0, 1, 2, 3].map((index) => send().outcome.over.then(() => order.push(index)));
    await eventually("all are answered", () => {
      waiting.shift()?.write(hello);
      return order.length === 4;
    });
    await Promise.all(calls);
    expect(server.sockets).toHaveLength(2);
    expect(order.slice(2)).toEqual([2, 3]);
  });

  test("opens few connections for a burst: calls that wait take those that come free", async () => {
    pool.destroy();
    pool = new HttpPool(origin, { ...options, connections: 1000 });
    const burst = Array.from({ length: 200 }, () => send().outcome.over);
    expect(new Set((await Promise.all(burst)).map(({ text }) => text))).toEqual(new Set(["hello"]));
    expect(server.sockets.length).toBeLessThan(150);
  });

  test("opens one for each call of a burst where none comes free", async () => {
    pool.destroy();
    pool = new HttpPool(origin, { ...options, connections: 1000 });
    const waiting: Socket[] = [];
    server.answer = (socket) => waiting.push(socket);
    const burst = Array.from({ length: 200 }, () => send().outcome.over);
    await eventually("all are there", () => waiting.length === burst.length);
    for (const socket of waiting) {
      socket.write(hello);
    }
    await Promise.all(burst);
    expect(server.sockets).toHaveLength(200);
  });

  test("drops a call that is given up while it waits", async () => {
    server.answer = () => {};
    const running = [send(), send()];
    const third = send();
    third.call.abort();
    server.answer = (socket) => socket.write(hello);
    running[0]?.call.abort();
    expect(await send().outcome.over).toMatchObject({ text: "hello" });
    expect(server.received.length).toBeLessThanOrEqual(3);
  });

  test("closes the connection of a call that is given up, and steers no later one", async () => {
    server.answer = (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello");
    const { outcome, call } = send();
    await outcome.begun;
    const closed = once(server.sockets[0] as Socket, "close");
    call.abort();
    await closed;
    server.answer = (socket) => socket.write(hello);
    const first = send();
    await first.outcome.over;
    const second = send();
    first.call.abort();
    expect(await second.outcome.over).toMatchObject({ text: "hello" });
  });

  test("stops reading while it is paused", async () => {
    const size = 8_000_000;
    server.answer = (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n${"a".repeat(size)}`);
    const { outcome, call } = send();
    await outcome.begun;
    call.pause();
    const before = outcome.text.length;
    for (let turn = 0; turn < 50; turn++) {
      await new Promise(setImmediate);
    }
    expect(outcome.text).toHaveLength(before);
    call.resume();
    expect((await outcome.over).text).toHaveLength(size);
  });
});

describe("a call fails", () => {
  test.each([
    ["when the server closes without an answer", (socket: Socket) => socket.end(), "CLOSED"],
    [
      "when the answer is cut",
      (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"),
      "CLOSED",
    ],
    ["when the answer is no HTTP", (socket: Socket) => socket.write("hello world\r\n\r\n"), "MALFORMED"],
    ["when the connection is reset", (socket: Socket) => socket.resetAndDestroy(), "ECONNRESET"],
  ])("%s", async (_, answer, code) => {
    server.answer = answer;
    await expect(send().outcome.over).rejects.toMatchObject({ code });
  });

  test("when the server is silent for too long", async () => {
    pool.destroy();
    pool = new HttpPool(origin, { ...options, silenceTimeoutMs: 100 });
    server.answer = () => {};
    await expect(send().outcome.over).rejects.toMatchObject({ code: "SILENT" });
  });

  test("when nobody listens", async () => {
    server.close();
    await expect(send().outcome.over).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("with all of a burst, when nobody listens", async () => {
    server.close();
    pool.destroy();
    pool = new HttpPool(origin, { ...options, connections: 1000 });
    const burst = Array.from({ length: 200 }, () => send().outcome.over);
    expect(new Set((await Promise.allSettled(burst)).map(({ status }) => status))).toEqual(new Set(["rejected"]));
  });

  test("when the pool is destroyed before, while it waits and while it runs", async () => {
    server.answer = (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello");
    const running = [send(), send(), send()];
    await running[0]?.outcome.begun;
    pool.destroy();
    for (const { outcome } of [...running, send()]) {
      await expect(outcome.over).rejects.toMatchObject({ code: "DESTROYED" });
    }
  });

  test.each([{ path: "/a b" }, { path: "/a\r\nx: y" }, { headers: { a: "b\r\nc: d" } }, { headers: { a: "é" } }])(
    "before it is sent when it could be understood differently: %j",
    (part) => {
      expect(() => send({ ...get, ...part })).toThrow(TypeError);
    },
  );

  test("never, when a connection that idles is closed or sends what nobody asked for", async () => {
    await send().outcome.over;
    const closed = once(server.sockets[0] as Socket, "close");
    server.sockets[0]?.write("HTTP/1.1 408 Request Timeout\r\n\r\n");
    await closed;
    expect(await send().outcome.over).toMatchObject({ text: "hello" });
    expect(server.sockets).toHaveLength(2);
  });
});

test("a connection that could not be made leaves no other call without one", async () => {
  const clock = new ManualClock();
  server.answer = () => {}; // says nothing of TLS
  pool = new HttpPool(origin.replace("http:", "https:"), { ...options, clock, connections: 1 });
  const calls = [send().outcome, send().outcome];
  calls.map(({ over }) => over.catch(() => {})); // looked at below
  await eventually("the first connects", () => server.received.length === 1);
  for (const [at, { over }] of calls.entries()) {
    await clock.advanceAsync(options.connectTimeoutMs);
    await expect(over).rejects.toMatchObject({ code: "CONNECT_TIMEOUT" });
    await eventually("the next connects", () => at === calls.length - 1 || server.received.length === at + 2);
  }
});
