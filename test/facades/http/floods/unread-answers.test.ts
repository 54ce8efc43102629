import { describe, expect, test } from "@jest/globals";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { startFront } from "../front-server.ts";
import { answer, scriptedCore, started } from "../scripted-core.ts";
import { ask, body, MiB, open, path, turn } from "./flood.ts";

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
