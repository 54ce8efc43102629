import { Code } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { type FrontServer, startFront } from "./front-server.ts";
import { RawClient } from "./raw-client.ts";
import { answer, refused, type Script, scriptedCore, started } from "./scripted-core.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
const path = "/v1/chat/completions";
const chunked = { "content-length": undefined, "transfer-encoding": "chunked" };
const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });
/** Knows the keys tg-1 and tg-2. */
const refuse: Script["refuse"] = (headers) =>
  /^Bearer tg-[12]$/.test(headers.get("authorization") ?? "")
    ? undefined
    : refused(Reason.UNAUTHENTICATED, "No key.", Code.Unauthenticated);

let clients: RawClient[] = [];
afterEach(() => {
  for (const { socket } of clients) {
    socket.destroy();
  }
  clients = [];
});

function open(front: FrontServer, from?: string): RawClient {
  const client = new RawClient(front.url, from);
  clients.push(client);
  return client;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Sends a small request in a chunk, for which memory has to be set aside, and tells its status. 0: none came. */
async function ask(front: FrontServer, key = "tg-1", from?: string): Promise<number> {
  const client = open(front, from);
  client.post(path, `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`, {
    authorization: `Bearer ${key}`,
    ...chunked,
  });
  const [, status] = await client.until(/^HTTP\/1.1 (\d+) /).catch(() => []);
  client.socket.destroy();
  return Number(status ?? 0);
}

const askOften = async (front: FrontServer, count: number, key?: string, from?: string) => {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) {
    statuses.push(await ask(front, key, from));
  }
  return statuses;
};

describe("bodies that never end", () => {
  test.each([
    ["with a length", { "content-length": String(2 * MiB) }],
    ["in chunks", { "content-length": undefined, "transfer-encoding": "chunked" }],
  ])(
    "%s and without a key, more of almost 2 MiB than there is memory for, leave the port to others",
    async (_, headers) => {
      const { transport, log } = scriptedCore({ refuse });
      await using front = await startFront(transport, { limits: { bodyMemory: 32 * MiB } });
      const almost = "x".repeat(2 * MiB - 100);
      const bytes = "content-length" in headers && headers["content-length"] ? almost : `200000\r\n${almost}`;
      for (let i = 0; i < 19; i++) {
        open(front).post(path, bytes, { authorization: "", ...headers });
      }
      expect(await askOften(front, 40)).toEqual(Array(40).fill(200));
      await Promise.all(clients.slice(0, 19).map((client) => client.until(/^HTTP\/1.1 401 .*connection: close/is)));
      expect(log.identified).toBe(0);
    },
    60_000,
  );

  test("and are refused are read at the pace of their address", async () => {
    const clock = new ManualClock();
    const { transport } = scriptedCore({
      refuse: () => refused(Reason.UNAUTHENTICATED, "No key.", Code.Unauthenticated),
    });
    await using front = await startFront(transport, { clock });
    const senders = Array.from({ length: 5 }, () => open(front, "127.8.0.1"));
    for (const sender of senders) {
      sender.post(path, "x".repeat(2 * MiB)); // 10 MiB, of which 8 have no wait
    }
    await eventually("one of them waits", () => front.refused.includes("unwanted"));
    await eventually("each is answered in its turn", () => {
      clock.advance(100);
      return senders.every(({ received }) => received.startsWith("HTTP/1.1 401 "));
    });
  });

  test("of one address have their share, and another address is served", async () => {
    await using front = await startFront(scriptedCore({ refuse }).transport, { limits: { bodyMemory: 2 * MiB } });
    for (let i = 0; i < 100; i++) {
      open(front, "127.0.0.2").post(path, "x".repeat(60 * KiB), {
        authorization: "",
        "content-length": String(64 * KiB),
      });
    }
    const flood = [...clients];
    expect(await askOften(front, 40)).toEqual(Array(40).fill(200));
    await eventually(
      "the address's share is full",
      () => flood.filter(({ received }) => received.startsWith("HTTP/1.1 401")).length >= 96,
    );
    expect(front.refused).toContain("bodies");
  }, 60_000);

  test("of many addresses fill what strangers have, and a known key is served all the same", async () => {
    await using front = await startFront(scriptedCore({ refuse }).transport, { limits: { bodyMemory: 2 * MiB } });
    for (let i = 0; i < 100; i++) {
      open(front, `127.0.0.${2 + (i % 5)}`).post(path, "x".repeat(60 * KiB), {
        authorization: "",
        "content-length": String(64 * KiB),
      });
    }
    const flood = [...clients];
    await eventually(
      "there is no room for strangers",
      () => flood.filter(({ received }) => received.startsWith("HTTP/1.1 401")).length >= 80,
    );
    expect(await askOften(front, 24, "tg-1", "127.0.0.9")).toEqual(Array(24).fill(200));
    expect(await ask(front, "tg-9", "127.0.0.9")).toBe(401);
  }, 60_000);

  test("of one account have their share, and another account is served", async () => {
    const { transport, log } = scriptedCore({ refuse });
    await using front = await startFront(transport, { limits: { bodyMemory: 4 * MiB } });
    const headers = { authorization: "Bearer tg-2", "content-length": String(600 * KiB) };
    for (let i = 0; i < 20; i++) {
      open(front).post(path, "x".repeat(500 * KiB), headers);
    }
    await eventually("all are identified", () => log.identified >= 20);
    const large = body.padEnd(700 * KiB);
    for (let i = 0; i < 10; i++) {
      const client = open(front);
      client.post(path, large);
      await client.until(/^HTTP\/1.1 200 /);
      client.socket.destroy();
    }
    expect(await askOften(front, 10, "tg-2")).toEqual(Array(10).fill(200));
  }, 60_000);

  test.each([
    [path, /"code":"request_timeout"/],
    ["/v1/messages", /"type":"timeout_error"/],
  ])("on %s are given up when they come too slowly", async (path, told) => {
    const clock = new ManualClock();
    await using front = await startFront(scriptedCore({ refuse }).transport, { clock });
    const [slow, steady] = [open(front), open(front)];
    slow.post(path, "{", { "content-length": "1000" });
    steady.post(path, "{".padEnd(50_000), { "content-length": "60000" });
    await eventually("both are waited for", () => clock.pending > 0);
    for (let second = 0; second < 10; second++) {
      clock.advance(1000);
      await turn();
    }
    expect(slow.received).toBe("");
    for (let second = 0; second < 4; second++) {
      clock.advance(1000);
    }
    const [text] = await slow.until(/^HTTP\/1.1 408 .*\}$/s);
    expect(text).toMatch(told);
    await slow.closed();
    steady.socket.write(" ".repeat(10_000));
    await steady.until(/^HTTP\/1.1 400 /);
    expect(front.refused).toEqual(["slow_body"]);
  });
});

describe("connections", () => {
  test("of this machine have half of all", async () => {
    const limits = { connections: 40, connectionsPerAddress: 5 };
    await using front = await startFront(scriptedCore().transport, { limits });
    const idle = Array.from({ length: 30 }, () => open(front, "127.0.0.1"));
    await Promise.all(idle.slice(20).map((client) => client.closed()));
    expect(idle.filter(({ socket }) => !socket.closed)).toHaveLength(20);
    expect(await askOften(front, 10, "tg-1", "127.0.1.2")).toEqual(Array(10).fill(200));
    expect(front.refused).toEqual(Array(10).fill("connections_per_address"));
    idle[0]?.socket.destroy();
    await eventually("a connection is free", async () => (await ask(front)) === 200);
  });

  test("a thousand idle ones do not keep others from being served", async () => {
    await using front = await startFront(scriptedCore().transport);
    for (let i = 0; i < 1000; i++) {
      open(front);
    }
    expect(await askOften(front, 40)).toEqual(Array(40).fill(200));
  }, 30_000);

  test("heads that never end are answered in time", async () => {
    await using front = await startFront(scriptedCore().transport, { limits: { headerTimeoutMs: 200 } });
    for (let i = 0; i < 100; i++) {
      open(front).socket.write("POST /v1/messages HTTP/1.1\r\nhost: t\r\nx-slow: ");
    }
    expect(await askOften(front, 10)).toEqual(Array(10).fill(200));
    await Promise.all(clients.slice(0, 100).map((client) => client.until(/^HTTP\/1.1 408 /)));
  }, 30_000);
});

describe("behind a trusted proxy", () => {
  test("what waits for its turn to be refused is under way", async () => {
    const isTrustedProxy = (address: string) => address === "127.0.0.1";
    const doorClock = new ManualClock();
    const limits = { requestsPerAddress: 3 };
    await using front = await startFront(scriptedCore({}).transport, { isTrustedProxy, doorClock, limits });
    const nowhere = "GET /nowhere HTTP/1.1\r\nhost: t\r\nx-forwarded-for: 198.51.100.1\r\n\r\n";
    const first = open(front);
    first.socket.write(nowhere.repeat(100));
    await eventually("a hundred are answered", () => first.received.split("HTTP/1.1 404").length === 101);
    const waiting = () => front.refused.filter((bound) => bound === "refusals").length;
    for (let asked = 1; asked <= 3; asked += 1) {
      open(front).socket.write(nowhere);
      await eventually("it waits", () => waiting() === asked);
    }
    await turn();
    expect(front.refused).not.toContain("requests_per_address");
    open(front).socket.write(nowhere);
    await eventually("a fourth is one too many", () => front.refused.includes("requests_per_address"));
    doorClock.advance(1000);
    await eventually("all are answered", () => clients.every(({ received }) => received !== ""));
    const last = open(front);
    last.socket.write(nowhere);
    await last.until(/^HTTP\/1.1 404 /);
  });

  test("one client has so many requests under way, and others are served", async () => {
    const running = Promise.withResolvers<void>();
    const core = scriptedCore({
      async *generate() {
        yield { events: [started()] };
        await running.promise;
        yield { events: answer("Hello").slice(1) };
      },
    });
    const isTrustedProxy = (address: string) => address === "127.0.0.1";
    await using front = await startFront(core.transport, { isTrustedProxy, limits: { requestsPerAddress: 3 } });
    const stream = JSON.stringify({ ...JSON.parse(body), stream: true });
    const from = (address: string) => {
      const client = open(front);
      client.post(path, stream, { "x-forwarded-for": address });
      return client.until(/^HTTP\/1.1 (\d+) /).then(([, status]) => Number(status));
    };
    expect(await Promise.all([1, 2, 3].map(() => from("198.51.100.1")))).toEqual([200, 200, 200]);
    expect(await from("198.51.100.1")).toBe(429);
    expect(front.refused).toEqual(["requests_per_address"]);
    expect(await from("198.51.100.2")).toBe(200);
    running.resolve();
    await Promise.all(clients.filter(({ received }) => / 200 /.test(received)).map((one) => one.until(/\[DONE\]/)));
    expect(await from("198.51.100.1")).toBe(200);
  });
});

describe("answers that nobody reads", () => {
  test("are made one at a time, and their connection is cut", async () => {
    const clock = new ManualClock();
    const models = Array.from({ length: 5000 }, (_, i) => ({ id: `org/model-${i}`, kind: 1 }));
    let listed = 0;
    const core = scriptedCore({
      get models() {
        listed += 1;
        return models;
      },
    });
    await using front = await startFront(core.transport, { clock });
    const client = open(front);
    client.socket.pause();
    client.socket.write("GET /v1/models HTTP/1.1\r\nhost: t\r\n\r\n".repeat(100));
    await eventually("an answer is unread", () => clock.pending > 0);
    expect(listed).toBeLessThan(20); // what the kernel's buffers hold, and one more
    expect((await fetch(`${front.url}/v1/models`)).status).toBe(200);
    for (let second = 0; second < 29; second++) {
      clock.advance(1000);
    }
    expect(front.refused).toEqual([]);
    for (let second = 0; second < 600; second++) {
      clock.advance(1000);
    }
    expect(front.refused).toContain("slow_reader");
    client.socket.resume();
    await client.closed();
    expect(listed).toBeLessThan(22);
  }, 30_000);

  test("take bounded memory: the oldest gives way, and who reads is served", async () => {
    // Few and long: what counts is the answer's length, which many short ones take ten times as long to make.
    const models = Array.from({ length: 1500 }, (_, i) => ({ id: `org/${"m".repeat(1100)}-${i}`, kind: 1 }));
    const limits = { answerMemory: 20 * MiB };
    await using front = await startFront(scriptedCore({ models }).transport, { limits });
    for (let i = 0; i < 12; i++) {
      const client = open(front);
      client.socket.pause();
      client.socket.write("GET /v1/models HTTP/1.1\r\nhost: t\r\n\r\n".repeat(10));
    }
    await eventually("the oldest are cut off", () => front.refused.length >= 4);
    const listed = (await (await fetch(`${front.url}/v1/models`)).json()) as { data: unknown[] };
    expect(listed.data).toHaveLength(1500);
    expect(new Set(front.refused)).toEqual(new Set(["slow_reader"]));
  }, 60_000);

  test("cost their connection in the middle of a stream, too", async () => {
    const clock = new ManualClock();
    const core = scriptedCore({
      async *generate() {
        yield { events: [started()] };
        yield { events: [...answer("x".repeat(8 * MiB)).slice(1)] };
      },
    });
    await using front = await startFront(core.transport, { clock });
    const client = open(front);
    client.socket.pause();
    client.post(path, JSON.stringify({ ...JSON.parse(body), stream: true }));
    await eventually("the stream is unread", () => clock.pending > 0);
    for (let second = 0; second < 180; second++) {
      clock.advance(1000);
      await turn();
    }
    expect(front.refused).toEqual(["slow_reader"]);
  });

  test("do not come before those of earlier requests", async () => {
    await using front = await startFront(scriptedCore().transport);
    const client = open(front);
    const post = `POST ${path} HTTP/1.1\r\nhost: t\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    client.socket.write(`${post}GET / HTTP/1.1\r\nhost: t\r\n\r\n${post}`);
    await client.until(/chat.completion.*"name":"tollgate".*chat.completion/s);
  });

  test("of a connection with too many requests in one piece cost it the connection", async () => {
    await using front = await startFront(scriptedCore().transport);
    const client = open(front);
    client.socket.write("GET /v1/models HTTP/1.1\r\nhost: t\r\n\r\n".repeat(500));
    await client.closed();
    expect(await ask(front)).toBe(200);
  });
});

describe("while the process is overloaded", () => {
  test("new requests are told to come again, GET / is answered, and streams go on", async () => {
    const overload: { shortage: "memory" | undefined } = { shortage: undefined };
    const running = Promise.withResolvers<void>();
    const { transport, log } = scriptedCore({
      async *generate() {
        yield { events: [started()] };
        await running.promise;
        yield { events: answer("Hello").slice(1) };
      },
    });
    await using front = await startFront(transport, { overload });
    const stream = open(front);
    stream.post(path, JSON.stringify({ ...JSON.parse(body), stream: true }));
    await stream.until(/^HTTP\/1.1 200 /);
    overload.shortage = "memory";
    const chat = await fetch(front.url + path, { method: "POST", body: body.padEnd(200_000) });
    expect([chat.status, chat.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await chat.json()).toMatchObject({ error: { type: "server_error", code: "overloaded" } });
    const messages = await fetch(`${front.url}/v1/messages`, { method: "POST", body });
    expect([messages.status, messages.headers.get("retry-after")]).toEqual([529, "5"]);
    expect(await messages.json()).toMatchObject({ error: { type: "overloaded_error" } });
    expect((await fetch(`${front.url}/v1/models`)).status).toBe(503);
    expect((await fetch(front.url)).status).toBe(200);
    expect((await fetch(`${front.url}/health`)).status).toBe(204);
    running.resolve();
    await stream.until(/\[DONE\]/);
    expect(log.generated).toHaveLength(1);
    expect(front.refused).toEqual(["overload", "overload", "overload"]);
    overload.shortage = undefined;
    expect((await fetch(front.url + path, { method: "POST", body })).status).toBe(200);
  });

  test("who is sent away is so at once, however often", async () => {
    await using front = await startFront(scriptedCore().transport, { overload: { shortage: "memory" } });
    for (let turn = 0; turn < 50; turn++) {
      await Promise.all(Array.from({ length: 20 }, async () => (await fetch(front.url + path)).arrayBuffer()));
    }
    expect(new Set(front.refused)).toEqual(new Set(["overload"]));
    expect(front.refused).toHaveLength(1000);
  });
});
