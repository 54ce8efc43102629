import { gzipSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import { describe, expect, jest, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { BodyBuffer } from "../../../../facades/http/request/body-buffer.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { TurnCount } from "../../../support/turns.ts";
import { startFront } from "../front-server.ts";
import { RawClient } from "../raw-client.ts";
import { refused, scriptedCore } from "../scripted-core.ts";

const MiB = 1024 * 1024;
const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hé" }] });

test.each<[what: string, body: string | Buffer, headers: Record<string, string>]>([
  ["JSON", body, { "content-type": "application/json; charset=utf-8" }],
  ["no content type", body, {}],
  ["what curl -d sends", body, { "content-type": "application/x-www-form-urlencoded" }],
  ["another content type", body, { "content-type": "application/octet-stream" }],
  ["a byte order mark", `\ufeff${body}`, { "content-type": "application/json" }],
  ["white space around it", ` \r\n\t${body}\n`, { "content-type": "application/json" }],
  ["an encoding that is none", body, { "content-encoding": "identity" }],
])("%s is read", async (_what, text, headers) => {
  const { transport, log } = scriptedCore();
  await using front = await startFront(transport);
  const client = new RawClient(front.url);
  client.post("/v1/chat/completions", text, headers);
  await client.until(/^HTTP\/1.1 200 OK.*"chat.completion"/s);
  expect(log.generated[0]?.prompt.value).toMatchObject({ messages: [{ text: "hé" }] });
  client.socket.destroy();
});

test.each<[what: string, body: string | Buffer, headers: Record<string, string>, status: number, message: RegExp]>([
  ["an empty body", "", {}, 400, /The body is empty/],
  ["broken JSON", "{", { "content-type": "application/json" }, 400, /not valid JSON: /],
  ["broken JSON from curl -d", "a=b", { "content-type": "application/x-www-form-urlencoded" }, 400, /not valid JSON: /],
  ["XML", "<a/>", { "content-type": "text/xml" }, 415, /content type text\/xml is not supported/],
  ["multipart", body, { "content-type": "multipart/form-data; boundary=x" }, 415, /Multipart/],
  ["compression", gzipSync(body), { "content-encoding": "gzip" }, 415, /content encoding gzip/],
  [
    "malformed UTF-8",
    Buffer.from([0x22, 0xc3, 0x28, 0x22]),
    { "content-type": "application/json" },
    400,
    /not valid UTF-8/,
  ],
  ["UTF-16", Buffer.from(body, "utf16le"), { "content-type": "application/json" }, 400, /not valid/],
  ["no object", "[]", { "content-type": "application/json" }, 400, /The body must be an object/],
])("%s is refused", async (_what, text, headers, status, message) => {
  const { transport, log } = scriptedCore();
  await using front = await startFront(transport);
  const client = new RawClient(front.url);
  client.post("/v1/chat/completions", text, headers);
  const [, found, json] = await client.until(/^HTTP\/1.1 (\d+) .*\r\n\r\n(\{.*\}\})/s);
  expect(Number(found)).toBe(status);
  expect(JSON.parse(json ?? "").error.message).toMatch(message);
  expect(log).toMatchObject({ counted: 1, generated: [] });
  client.socket.destroy();
});

test("large bodies are read a piece a turn of the event loop, and what others send comes between", async () => {
  const { transport } = scriptedCore();
  await using front = await startFront(transport);
  const { add: real } = BodyBuffer.prototype;
  const add = jest.spyOn(BodyBuffer.prototype, "add");
  const turns = new TurnCount();
  add.mockImplementation(function (this: BodyBuffer, chunk) {
    turns.note();
    return real.call(this, chunk);
  });
  const content = "x".repeat(1.5 * MiB);
  const large = JSON.stringify({ model: "m", messages: [{ role: "user", content }] });
  const clients = Array.from({ length: 3 }, () => new RawClient(front.url));
  for (const client of clients) {
    client.post("/v1/chat/completions", large, { "content-type": "application/json" });
  }
  for (const client of clients) {
    await client.until(/^HTTP\/1.1 200 OK.*"chat.completion"/s);
    client.socket.destroy();
  }
  add.mockRestore();
  const { most, all } = turns.stop();
  expect(all).toBeGreaterThan(3 * 20);
  expect(most).toBeLessThanOrEqual(2 * 3);
});

describe("a body over 2 MiB", () => {
  test("is drained and answered with 413, and the connection serves on", async () => {
    const { transport, log } = scriptedCore();
    await using front = await startFront(transport);
    const client = new RawClient(front.url);
    for (const path of ["/v1/chat/completions", "/v1/messages"]) {
      client.received = "";
      client.post(path, "x".repeat(2 * MiB + 1));
      const [response] = await client.until(/^HTTP\/1.1 413 .*\r\n\r\n\{.*"\}$|^HTTP\/1.1 413 .*\r\n\r\n\{.*\}\}$/s);
      expect(response).toContain("request_too_large");
      expect(response).not.toMatch(/connection: close/i);
    }
    client.received = "";
    client.post("/v1/chat/completions", body);
    await client.until(/^HTTP\/1.1 200 /);
    expect(log.counted).toBe(0);
    client.socket.destroy();
  });

  test("comes before the key", async () => {
    const refuse = () => refused(Reason.UNAUTHENTICATED, "No key.", Code.Unauthenticated);
    await using front = await startFront(scriptedCore({ refuse }).transport);
    const response = await fetch(`${front.url}/v1/embeddings`, { method: "POST", body: "x".repeat(2 * MiB + 1) });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", code: "request_too_large", param: null },
    });
  });

  test.each(["/v1/chat/completions", "/v1/messages"])(
    "comes before the key without a length, too: %s",
    async (path) => {
      const refuse = () => refused(Reason.UNAUTHENTICATED, "No key.", Code.Unauthenticated);
      await using front = await startFront(scriptedCore({ refuse }).transport);
      const send = (kibibytes: number) =>
        fetch(front.url + path, {
          method: "POST",
          body: ReadableStream.from(Array.from({ length: kibibytes / 64 }, () => new Uint8Array(65_536))),
          duplex: "half",
        });
      const large = await send(3 * 1024);
      expect(large.status).toBe(413);
      expect(await large.text()).toContain("request_too_large");
      expect((await send(1024)).status).toBe(401);
    },
  );

  test("of exactly 2 MiB is not over it", async () => {
    await using front = await startFront(scriptedCore().transport);
    const padded = body + " ".repeat(2 * MiB - Buffer.byteLength(body));
    const response = await fetch(`${front.url}/v1/chat/completions`, { method: "POST", body: padded });
    expect(response.status).toBe(200);
  });

  test("without a length is measured as it comes", async () => {
    await using front = await startFront(scriptedCore().transport);
    const chunks = Array.from({ length: 40 }, () => new Uint8Array(65_536));
    const response = await fetch(`${front.url}/v1/chat/completions`, {
      method: "POST",
      body: ReadableStream.from(chunks),
      duplex: "half",
    });
    expect(response.status).toBe(413);
  });

  test("that never ends is answered after 8 MiB, and the connection closes", async () => {
    await using front = await startFront(scriptedCore().transport);
    const client = new RawClient(front.url);
    client.post("/v1/chat/completions", "x".repeat(8 * MiB + 1), { "content-length": String(100 * MiB) });
    await client.until(/^HTTP\/1.1 413 .*connection: close/is);
    await client.closed();
  });

  test("that stalls is answered after 5 s, and the connection closes", async () => {
    const clock = new ManualClock();
    await using front = await startFront(scriptedCore().transport, { clock });
    const client = new RawClient(front.url);
    client.post("/v1/chat/completions", "x".repeat(3 * MiB), { "content-length": String(4 * MiB) });
    await eventually("it is waited for", () => clock.pending > 0);
    clock.advance(4_999);
    expect(client.received).toBe("");
    clock.advance(1);
    await client.until(/^HTTP\/1.1 413 .*connection: close/is);
    await client.closed();
  });
});

test("bodies that together take too much memory are refused until there is room again", async () => {
  await using front = await startFront(scriptedCore().transport, { limits: { bodyMemory: 8000 } });
  // One fills what the address has, the others what the account has.
  const slow = Array.from({ length: 3 }, () => new RawClient(front.url));
  for (const client of slow) {
    client.post("/v1/chat/completions", " ".repeat(900), { "content-length": "1000" });
  }
  const post = async (path: string) => {
    const client = new RawClient(front.url);
    const chunk = `1f4\r\n${body.padEnd(499)}\r\n0\r\n\r\n`;
    client.post(path, chunk, { "content-length": undefined, "transfer-encoding": "chunked" });
    const [answer, status] = await client.until(/^HTTP\/1.1 (\d+) .*\}/s);
    client.socket.destroy();
    return { status: Number(status), answer };
  };
  const refusal = await eventually("the slow ones have come", async () => {
    const answer = await post("/v1/chat/completions");
    return answer.status === 200 ? undefined : answer;
  });
  expect(refusal.status).toBe(503);
  expect(refusal.answer).toMatch(/retry-after: 1\r\n/i);
  expect((await post("/v1/messages")).status).toBe(529);
  for (const client of slow) {
    client.socket.destroy();
  }
  await eventually("there is room", async () => (await post("/v1/chat/completions")).status === 200);
});

test("a key that is found after its body was given up takes no memory for it", async () => {
  const found = Promise.withResolvers<void>();
  const { transport, log } = scriptedCore({ identify: () => found.promise });
  const clock = new ManualClock();
  await using front = await startFront(transport, { clock, limits: { bodyMemory: 8000 } });
  const client = new RawClient(front.url);
  client.post("/v1/chat/completions", " ".repeat(1500), { "content-length": "1600" }); // more than an address has
  await eventually("its key is looked for", () => log.identified === 1);
  clock.advance(11_000);
  await client.until(/^HTTP\/1.1 408 /);
  found.resolve();
  await new Promise(setImmediate);
  const chunk = `5dc\r\n${body.padEnd(1499)}\r\n0\r\n\r\n`;
  const next = new RawClient(front.url);
  next.post("/v1/chat/completions", chunk, { "content-length": undefined, "transfer-encoding": "chunked" });
  const [, status] = await next.until(/^HTTP\/1.1 (\d+) /);
  expect(status).toBe("200");
  client.socket.destroy();
  next.socket.destroy();
});

test("a client that leaves in the middle of its body costs nothing", async () => {
  const { transport, log } = scriptedCore();
  await using front = await startFront(transport);
  const client = new RawClient(front.url);
  client.post("/v1/chat/completions", body.slice(0, 10), { "content-length": "100" });
  await new Promise(setImmediate);
  client.socket.destroy();
  await client.closed();
  expect((await fetch(front.url)).status).toBe(200);
  expect(log).toMatchObject({ counted: 0, generated: [] });
  expect(front.errors).toEqual([]);
});
