import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { startFront } from "../front-server.ts";
import { refused, scriptedCore } from "../scripted-core.ts";
import { ask, askOften, body, clients, KiB, MiB, open, path, refuse, turn } from "./flood.ts";

describe("bodies that never end", () => {
  test.each([
    ["with a length", { "content-length": String(2 * MiB) }],
    ["in chunks", { "content-length": undefined, "transfer-encoding": "chunked" }],
  ])(
    "%s and without a key, more of almost 2 MiB than there is memory for, leave the port to others",
    async (_, headers) => {
      const { transport, log } = scriptedCore({ refuse });
      const clock = new ManualClock();
      await using front = await startFront(transport, { clock, limits: { bodyMemory: 32 * MiB } });
      const almost = "x".repeat(2 * MiB - 100);
      const bytes = "content-length" in headers && headers["content-length"] ? almost : `200000\r\n${almost}`;
      for (let i = 0; i < 19; i++) {
        open(front).post(path, bytes, { authorization: "", ...headers });
      }
      expect(await askOften(front, 40)).toEqual(Array(40).fill(200));
      await eventually("each is answered once its body has had its time", () => {
        clock.advance(1000);
        return clients.slice(0, 19).every(({ received }) => /^HTTP\/1.1 401 .*connection: close/is.test(received));
      });
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
    const clock = new ManualClock();
    const limits = { bodyMemory: 2 * MiB };
    await using front = await startFront(scriptedCore({ refuse }).transport, { clock, limits });
    for (let i = 0; i < 100; i++) {
      open(front, "127.0.0.2").post(path, "x".repeat(60 * KiB), {
        authorization: "",
        "content-length": String(64 * KiB),
      });
    }
    const flood = [...clients];
    expect(await askOften(front, 40)).toEqual(Array(40).fill(200));
    await eventually("the address's share is full", () => {
      clock.advance(1000);
      return flood.filter(({ received }) => received.startsWith("HTTP/1.1 401")).length >= 96;
    });
    expect(front.refused).toContain("bodies");
  }, 60_000);

  test("of many addresses fill what strangers have, and a known key is served all the same", async () => {
    const clock = new ManualClock();
    const limits = { bodyMemory: 2 * MiB };
    await using front = await startFront(scriptedCore({ refuse }).transport, { clock, limits });
    for (let i = 0; i < 100; i++) {
      open(front, `127.0.0.${2 + (i % 5)}`).post(path, "x".repeat(60 * KiB), {
        authorization: "",
        "content-length": String(64 * KiB),
      });
    }
    const flood = [...clients];
    await eventually("there is no room for strangers", () => {
      clock.advance(1000);
      return flood.filter(({ received }) => received.startsWith("HTTP/1.1 401")).length >= 80;
    });
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
