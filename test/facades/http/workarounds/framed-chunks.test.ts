import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@jest/globals";
import { FramedChunks } from "../../../../facades/http/workarounds/framed-chunks.ts";
import { RawClient } from "../raw-client.ts";

/** Answers one connection's requests, one after the other, and resolves with all bytes of their answers. */
async function ask(requests: readonly string[], answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_: IncomingMessage, response) => {
    response.sendDate = false;
    response.writeHead(200, { "content-type": "text/plain" });
    answer(response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const client = new RawClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    client.socket.write(requests.join(""));
    await client.closed();
    return client.received;
  } finally {
    server.close();
  }
}

const texts = ["data: one\n\n", "", "data: zwölf – \u{1f600}\n\n", "x".repeat(70_000)];
const body = texts.join("");
const write = (response: ServerResponse) => {
  const chunks = new FramedChunks(response);
  for (const text of texts) {
    chunks.write(text);
  }
  chunks.end();
};

/** The body of a chunked answer, and what follows it. */
function readChunks(answer: string): [body: string, rest: string] {
  let [read, rest] = [Buffer.alloc(0), Buffer.from(answer.slice(answer.indexOf("\r\n\r\n") + 4))];
  for (;;) {
    const line = rest.indexOf("\r\n");
    const length = Number.parseInt(rest.toString("latin1", 0, line), 16);
    read = Buffer.concat([read, rest.subarray(line + 2, line + 2 + length)]);
    expect(rest.toString("latin1", line + 2 + length, line + 4 + length)).toBe("\r\n");
    rest = rest.subarray(line + 4 + length);
    if (length === 0) {
      return [read.toString(), rest.toString()];
    }
  }
}

test("a client of HTTP/1.1 gets whole chunks, and the next answer on the same connection", async () => {
  const answers = await ask(
    ["GET / HTTP/1.1\r\nhost: t\r\n\r\n", "GET / HTTP/1.1\r\nhost: t\r\nconnection: close\r\n\r\n"],
    write,
  );
  const [first, rest] = readChunks(answers);
  expect(answers).toMatch(/^HTTP\/1\.1 200 OK\r\n.*transfer-encoding: chunked/is);
  expect(first).toBe(body);
  expect(rest).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(readChunks(rest)).toEqual([body, ""]);
});

test("a client of HTTP/1.0 gets the text alone until the connection ends", async () => {
  const answer = await ask(["GET / HTTP/1.0\r\nhost: t\r\n\r\n"], write);
  expect(answer).not.toMatch(/transfer-encoding/i);
  expect(answer.slice(answer.indexOf("\r\n\r\n") + 4)).toBe(body);
});

/** How many pieces the socket gets of one text. */
async function countPieces(send: (response: ServerResponse) => void): Promise<number> {
  const counts: number[] = [];
  await ask(["GET / HTTP/1.1\r\nhost: t\r\nconnection: close\r\n\r\n"], (response) => {
    response.flushHeaders();
    const socket = response.socket;
    if (socket === null) {
      throw new Error("the response has no connection");
    }
    let pieces = 0;
    const { write: writePiece } = socket;
    socket.write = ((...given: Parameters<typeof writePiece>) => {
      pieces++;
      return writePiece.apply(socket, given);
    }) as typeof writePiece;
    send(response);
    setImmediate(() => {
      counts.push(pieces);
      response.destroy();
    });
  });
  return counts[0] ?? 0;
}

test("a text leaves as one piece", async () => {
  expect(await countPieces((response) => void new FramedChunks(response).write("data: x\n\n"))).toBe(1);
});

test("Node.js alone makes several of it, so the workaround is still needed", async () => {
  expect(await countPieces((response) => void response.write("data: x\n\n"))).toBeGreaterThan(1);
});
