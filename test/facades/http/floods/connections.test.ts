import { describe, expect, test } from "@jest/globals";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { startFront } from "../front-server.ts";
import { answer, scriptedCore, started } from "../scripted-core.ts";
import { ask, askOften, body, clients, open, path, turn } from "./flood.ts";

describe("connections", () => {
  test("of this machine have half of all", async () => {
    const limits = { connections: 40, connectionsPerAddress: 5 };
    await using front = await startFront(scriptedCore().transport, { limits });
    const idle = Array.from({ length: 30 }, () => open(front, "127.0.0.1"));
    const kept = () => idle.filter(({ socket }) => !socket.closed);
    await eventually("half of all are left, in whatever order they came", () => kept().length === 20);
    expect(await askOften(front, 10, "tg-1", "127.0.1.2")).toEqual(Array(10).fill(200));
    expect(front.refused).toEqual(Array(10).fill("connections_per_address"));
    kept()[0]?.socket.destroy();
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
