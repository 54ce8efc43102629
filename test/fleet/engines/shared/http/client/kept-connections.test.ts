import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemClock } from "#lib/time/clock.ts";
import type { RequestMessage } from "#src/fleet/engines/shared/http/client/interface.ts";
import { HttpPool } from "#src/fleet/engines/shared/http/client/pool.ts";
import { eventually } from "../../../../../support/eventually.ts";
import { hello, Outcome, RawServer } from "./raw-server.ts";

/** llama-server's answer as it came, head and all: it promises to keep the connection, which it then closes. */
const llamaServer = readFileSync(new URL("../../../recordings/llama-cpp/connection.txt", import.meta.url), "latin1");
const options = { connections: 4, clock: systemClock, connectTimeoutMs: 2000, silenceTimeoutMs: 5000 };
const get = { method: "GET", path: "/x", headers: {}, body: undefined } as const;

let server: RawServer;
let origin: string;
let pool: HttpPool;

function send(message: RequestMessage = get): Outcome {
  const outcome = new Outcome();
  pool.dispatch(message, outcome);
  return outcome;
}

/** Asks so many at once, each anew when the one before is answered. Returns the number of failures. */
async function burst(calls: number, atOnce: number): Promise<number> {
  let [left, failures] = [calls, 0];
  const ask = async () => {
    while (left-- > 0) {
      await send().over.catch(() => failures++);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, ask));
  return failures;
}

/** Answers the first request of each connection, and does something with the next one. */
function onSecond(act: (socket: Socket) => void): void {
  const seen = new Set<Socket>();
  server.answer = (socket) => {
    if (seen.has(socket)) {
      act(socket);
      return;
    }
    seen.add(socket);
    socket.write(hello);
  };
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

describe("no call fails because a server closes its connections", () => {
  test.each([1, 2, 4, 8])("after each answer, as llama-server does, %i at once", async (atOnce) => {
    server.answer = (socket) => socket.end(llamaServer, "latin1");
    expect(await burst(200, atOnce)).toBe(0);
  });

  test("a moment after each answer", async () => {
    server.answer = (socket) => {
      socket.write(hello);
      setImmediate(() => socket.end());
    };
    expect(await burst(200, 4)).toBe(0);
  });

  test.each([
    ["closes it", (socket: Socket) => socket.end()],
    ["resets it", (socket: Socket) => socket.resetAndDestroy()],
    [
      "says that it was idle for too long",
      (socket: Socket) => socket.end("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
    ],
  ])("when the next call comes and the server %s", async (_, act) => {
    onSecond(act);
    expect(await send().over).toMatchObject({ text: "hello" });
    expect(await send({ ...get, method: "POST", body: "once more" }).over).toMatchObject({ text: "hello" });
    expect(server.sockets.length).toBe(2);
    expect(server.received[1]).toBe(server.received[2]);
  });

  test("while every connection is in use", async () => {
    onSecond((socket) => socket.end());
    expect(await burst(100, 8)).toBe(0);
  });
});

describe("a call is sent again only", () => {
  test("on a kept connection: a new one that ends is a failure", async () => {
    server.answer = (socket) => socket.end();
    await expect(send().over).rejects.toMatchObject({ code: "CLOSED" });
    expect(server.received).toHaveLength(1);
  });

  test("once", async () => {
    let answers = 0;
    server.answer = (socket) => (answers++ === 0 ? socket.write(hello) : socket.end());
    await send().over;
    await expect(send().over).rejects.toMatchObject({ code: "CLOSED" });
    expect(server.received).toHaveLength(3);
  });

  test.each([
    ["of its head", "HTTP/1.1 200"],
    ["of an informational answer", "HTTP/1.1 103 Early Hints\r\n\r\n"],
    ["of its body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"],
  ])("before the first byte %s", async (_, text) => {
    onSecond((socket) => socket.end(text));
    await send().over;
    await expect(send().over).rejects.toMatchObject({ code: "CLOSED" });
    expect(server.received).toHaveLength(2);
  });

  test("when the server ends it: not after a silence", async () => {
    pool.destroy();
    pool = new HttpPool(origin, { ...options, silenceTimeoutMs: 100 });
    onSecond(() => {});
    await send().over;
    await expect(send().over).rejects.toMatchObject({ code: "SILENT" });
    expect(server.received).toHaveLength(2);
  });

  test("while somebody waits for it", async () => {
    const held: Socket[] = [];
    onSecond((socket) => held.push(socket));
    await send().over;
    const call = pool.dispatch(get, new Outcome());
    await eventually("it is asked", () => held.length === 1);
    call.abort();
    held[0]?.end();
    expect(await send().over).toMatchObject({ text: "hello" });
    expect(server.received).toHaveLength(3);
  });

  test("and tells that nobody listens any more, so that another server is asked", async () => {
    onSecond((socket) => {
      server.stopListening();
      socket.end();
    });
    await send().over;
    await expect(send().over).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

describe("a kept connection", () => {
  test("is used in turn: the one that was idle longest is next", async () => {
    const waiting: Socket[] = [];
    server.answer = (socket) => waiting.push(socket);
    const calls = [send(), send(), send()];
    await eventually("all are asked", () => waiting.length === 3);
    const order = waiting.splice(0);
    for (const [index, socket] of order.entries()) {
      socket.write(hello);
      await calls[index]?.over;
    }
    const used: Socket[] = [];
    server.answer = (socket) => {
      used.push(socket);
      socket.write(hello);
    };
    for (let call = 0; call < 6; call++) {
      await send().over;
    }
    expect(used).toEqual([...order, ...order]);
  });

  test.each([
    ["max=3", 6, 2],
    ["timeout=5, max=2", 4, 2],
    ["max=0", 2, 2],
    ["timeout = 5", 4, 1],
    ["nonsense", 4, 1],
  ])("with Keep-Alive: %s carries %i calls over %i connections", async (promise, calls, connections) => {
    server.answer = (socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nKeep-Alive: ${promise}\r\nContent-Length: 5\r\n\r\nhello`);
    expect(await burst(calls, 1)).toBe(0);
    expect(server.sockets.length).toBe(connections);
  });

  test("whose promised calls are counted down by the server is left before the last one", async () => {
    const counts = new Map<Socket, number>();
    server.answer = (socket) => {
      const left = (counts.get(socket) ?? 4) - 1;
      counts.set(socket, left);
      socket.write(`HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=${left}\r\nContent-Length: 5\r\n\r\nhello`);
    };
    expect(await burst(9, 1)).toBe(0);
    expect(server.sockets.length).toBe(3);
  });

  test("that was closed while it was idle is not used", async () => {
    await send().over;
    const closed = once(server.sockets[0] as Socket, "close");
    server.sockets[0]?.end();
    await closed;
    expect(await send().over).toMatchObject({ text: "hello" });
    expect(server.received).toHaveLength(2);
  });
});

describe("whatever ends an answer, the next calls are answered", () => {
  const head = "HTTP/1.1 200 OK\r\n";
  const closing = `${head}Connection: close\r\nContent-Length: 5\r\n\r\nhello`;
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n`;

  test.each<[string, (socket: Socket) => void]>([
    ["the end of the connection", (socket) => socket.end(`${head}\r\nhello`)],
    ["the word close, while the server leaves it open", (socket) => socket.write(closing)],
    ["the word close, and the end of one direction", (socket) => socket.end(closing)],
    ["trailers", (socket) => socket.write(`${chunked}X-Tokens: 5\r\n\r\n`)],
    ["an empty line of trailers", (socket) => socket.write(`${chunked}\r\n`)],
    ["its length, after an informational answer", (socket) => socket.write(`HTTP/1.1 103 Hints\r\n\r\n${hello}`)],
    ["its length, of a server that speaks HTTP/1.0", (socket) => socket.write(hello.replace("1.1", "1.0"))],
  ])("%s", async (_, answer) => {
    let answers = 0;
    server.answer = (socket) => (answers++ % 3 === 0 ? answer(socket) : socket.write(hello));
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => send().over));
    expect(new Set(outcomes.map(({ text }) => text))).toEqual(new Set(["hello"]));
  });

  test("an answer that comes before the request is sent whole", async () => {
    server.answer = (socket) => {
      socket.pause();
      socket.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge");
    };
    const large = { ...get, method: "POST", body: "x".repeat(16_000_000) } as const;
    expect(await send(large).over).toMatchObject({ status: 413, text: "large" });
    server.answer = (socket) => socket.write(hello);
    expect(await send().over).toMatchObject({ text: "hello" });
    expect(server.sockets.length).toBe(2);
  });
});
