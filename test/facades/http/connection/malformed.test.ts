import { describe, expect, test } from "@jest/globals";
import { startFront } from "../front-server.ts";
import { RawClient } from "../raw-client.ts";
import { scriptedCore } from "../scripted-core.ts";

const chat = "POST /v1/chat/completions HTTP/1.1\r\nhost: t\r\nauthorization: Bearer tg-1\r\n";
const messages = "POST /v1/messages HTTP/1.1\r\nhost: t\r\nx-api-key: tg-1\r\n";
const body = JSON.stringify({ model: "m", max_tokens: 5, messages: [{ role: "user", content: "hi" }] });
const smuggled = `${chat}content-length: ${body.length}\r\n\r\n${body}`;

/** What a status is called in the body of each surface. */
const names: Record<number, readonly [code: string, type: string]> = {
  400: ["invalid_value", "invalid_request_error"],
  413: ["request_too_large", "request_too_large"],
  417: ["expectation_failed", "invalid_request_error"],
  431: ["headers_too_large", "invalid_request_error"],
};

/** Sends bytes and gives back all that comes until the server closes. */
async function send(bytes: string): Promise<{ answers: RegExpExecArray[]; generated: number }> {
  const { transport, log } = scriptedCore();
  await using front = await startFront(transport);
  const client = new RawClient(front.url);
  client.socket.write(bytes, "latin1");
  await client.closed();
  const answers = client.received.matchAll(/HTTP\/1\.1 (\d+) [^\r]*\r\n(.*?)\r\n\r\n(\{.*?\})(?=HTTP|$)/gs);
  return { answers: [...answers], generated: log.generated.length };
}

describe.each([
  ["chat", chat],
  ["messages", messages],
])("on the %s surface", (surface, head) => {
  test.each<[what: string, bytes: string, status: number]>([
    ["a blank before a colon", `${head}x-a : b\r\n\r\n`, 400],
    ["a control character in a header", `${head}x-a: b\x01c\r\n\r\n`, 400],
    ["a NUL in a header", `${head}x-a: b\0c\r\n\r\n`, 400],
    ["two lengths", `${head}content-length: 5\r\ncontent-length: 6\r\n\r\n${smuggled}`, 400],
    ["a length and chunks", `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`, 400],
    ["chunks and a length", `${head}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n${smuggled}`, 400],
    [
      "chunks in HTTP/1.0",
      `${head.replace("HTTP/1.1", "HTTP/1.0")}transfer-encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      400,
    ],
    ["gzip before chunks", `${head}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n${smuggled}`, 400],
    [
      "gzip and chunks in two lines",
      `${head}transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ["chunks twice", `${head}transfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n${smuggled}`, 400],
    ["two hosts", `${head}Host: other\r\ncontent-length: ${body.length}\r\n\r\n${body}${smuggled}`, 400],
    ["no host", `${head.replace("host: t\r\n", "")}content-length: 0\r\n\r\n${smuggled}`, 400],
    ["a chunk size that is no number", `${head}transfer-encoding: chunked\r\n\r\nzz\r\n${smuggled}`, 400],
    ["a chunk with endless extensions", `${head}transfer-encoding: chunked\r\n\r\n5;${"a".repeat(40_000)}`, 413],
    ["an expectation of its own", `${head}expect: 200-ok\r\ncontent-length: 2\r\n\r\n{}${smuggled}`, 417],
    ["a head without an end", head + "x-a: b\r\n".repeat(8000), 431],
  ])("%s is refused in its shape, and nothing behind it is run", async (_what, bytes, status) => {
    const { answers, generated } = await send(bytes);
    expect(answers).toHaveLength(1);
    const [, found, headers = "", json = ""] = answers[0] ?? [];
    expect(Number(found)).toBe(status);
    expect(headers).toMatch(/^connection: close$/im);
    const id = /^x-request-id: (req_[0-9a-f]{32})\r?$/im.exec(headers)?.[1];
    expect(/^request-id: (\S+)\r?$/im.exec(headers)?.[1]).toBe(id);
    const { error, ...rest } = JSON.parse(json);
    const [code, type] = names[status] ?? [];
    if (surface === "chat") {
      expect(error).toEqual({ message: expect.any(String), type: "invalid_request_error", param: null, code });
    } else {
      expect({ error, rest }).toMatchObject({ error: { type }, rest: { type: "error", request_id: id } });
    }
    expect(generated).toBe(0);
  });
});

test("a request before the malformed one gets its own answer first", async () => {
  const { answers, generated } = await send(`${smuggled}BREW / HTTP/1.1\r\n\r\n`);
  expect(answers.map(([, status]) => status)).toEqual(["200", "400"]);
  expect(generated).toBe(1);
});

test("100-continue is an expectation that is met", async () => {
  await using front = await startFront(scriptedCore().transport);
  const client = new RawClient(front.url);
  client.socket.write(`${chat}expect: 100-continue\r\ncontent-length: ${body.length}\r\n\r\n`);
  await client.until(/^HTTP\/1.1 100 Continue/);
  client.socket.write(body);
  await client.until(/HTTP\/1.1 200 OK/);
  client.socket.destroy();
});

test.each(["/", "/openapi.json", "/v1/models", "/nothing"])("GET %s keeps the connection", async (path) => {
  await using front = await startFront(scriptedCore().transport);
  const client = new RawClient(front.url);
  for (let time = 0; time < 3; time++) {
    client.socket.write(`GET ${path} HTTP/1.1\r\nhost: t\r\n\r\n`);
    expect(await client.answer()).not.toMatch(/connection: close/i);
  }
  client.socket.destroy();
});

test("what is no request has a line of the log with the id of its answer", async () => {
  await using front = await startFront(scriptedCore().transport);
  const client = new RawClient(front.url);
  client.socket.write("BREW / HTTP/1.1\r\n\r\n");
  const [, requestId] = await client.until(/^x-request-id: (req_[0-9a-f]{32})\r$/im);
  expect(front.lines).toEqual([{ requestId, reason: "INVALID_ARGUMENT", status: 400, address: "127.0.0.1" }]);
});

test.each([
  ["chat", chat],
  ["messages", messages],
])(
  "a %s request that its sender ends in the middle of its body is answered by its own surface",
  async (surface, head) => {
    await using front = await startFront(scriptedCore().transport);
    const client = new RawClient(front.url);
    client.socket.end(`${head}content-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`);
    await client.closed();
    const { type, error } = JSON.parse(client.received.split("\r\n\r\n").at(-1) ?? "");
    expect(type).toBe(surface === "messages" ? "error" : undefined);
    expect(error.message).toBe("The connection ended before the whole request had come.");
  },
);
