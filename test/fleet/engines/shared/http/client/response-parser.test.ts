import { describe, expect, test } from "@jest/globals";
import { type Head, HeadReader } from "#src/fleet/engines/shared/http/client/head.ts";
import { ResponseParser } from "#src/fleet/engines/shared/http/client/response-parser.ts";

/** What a parser makes of pieces: the head, the body's text, whether the answer is whole. */
function read(pieces: readonly string[], of = new HeadReader()) {
  const heads: Head[] = [];
  let body = "";
  const sink = {
    onHead: (head: Head) => void heads.push(head),
    onData: (piece: Buffer) => {
      body += piece.toString("latin1");
    },
  };
  const parser = new ResponseParser(sink, of);
  for (const piece of pieces) {
    parser.push(Buffer.from(piece, "latin1"));
  }
  return { head: heads[0], body, done: parser.done, endsWell: parser.end() };
}

const ok = "HTTP/1.1 200 OK\r\n";
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;

describe("an answer is read", () => {
  test.each<[string, string, string]>([
    ["with a length", `${ok}Content-Length: 5\r\n\r\nhello`, "hello"],
    ["of no length", `${ok}Content-Length: 0\r\n\r\n`, ""],
    ["in chunks", `${chunked}5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`, "hello world"],
    ["in chunks with extensions", `${chunked}5;a=b\r\nhello\r\n0;c\r\n\r\n`, "hello"],
    ["in chunks with trailers", `${chunked}5\r\nhello\r\n0\r\nX-A: b\r\nX-C: d\r\n\r\n`, "hello"],
    ["in chunks of hexadecimal size", `${chunked}0A\r\n0123456789\r\n0\r\n\r\n`, "0123456789"],
    [
      "behind informational answers",
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nLink: y\r\n\r\n${ok}Content-Length: 2\r\n\r\nok`,
      "ok",
    ],
    ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", ""],
    ["without a reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", "ok"],
  ])("%s, whole and byte by byte", (_, text, body) => {
    for (const pieces of [[text], text.split("")]) {
      expect(read(pieces)).toMatchObject({ body, done: true, endsWell: true });
    }
  });

  test("that ends with its connection", () => {
    expect(read([`${ok}\r\nhel`, "lo"])).toMatchObject({ body: "hello", done: false, endsWell: true });
  });

  test("with every header line, in lower case, repeated names as a list", () => {
    const { head } = read([
      `${ok}X-A: 1\r\nx-a:2 \r\nRetry-After: 3\r\nContent-Length: 0\r\nKeep-Alive: timeout=7, max=9\r\n\r\n`,
    ]);
    expect(head).toMatchObject({ status: 200, keepsAlive: true, idleSeconds: 7 });
    expect({ ...head?.headers }).toMatchObject({ "x-a": ["1", "2"], "retry-after": "3" });
  });

  test.each([
    [ok, "", true],
    [ok, "Connection: close\r\n", false],
    [ok, "Connection: x, Close\r\n", false],
    ["HTTP/1.0 200 OK\r\n", "", false],
    ["HTTP/1.0 200 OK\r\n", "Connection: keep-alive\r\n", true],
  ])("%j with %j: the connection is kept: %s", (line, header, keepsAlive) => {
    expect(read([`${line}${header}Content-Length: 0\r\n\r\n`]).head).toMatchObject({ keepsAlive });
  });
});

describe("an answer is not believed", () => {
  test.each<[string, string]>([
    ["that is no HTTP", "SSH-2.0-OpenSSH_9.9\r\n\r\n"],
    ["of another version", "HTTP/2.0 200 OK\r\n\r\n"],
    ["without a status", "HTTP/1.1 OK\r\n\r\n"],
    ["with two lengths", `${ok}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`],
    ["with a length and chunks", `${ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ["with a negative length", `${ok}Content-Length: -1\r\n\r\n`],
    ["with a length in words", `${ok}Content-Length: five\r\n\r\n`],
    ["with a length beyond counting", `${ok}Content-Length: 99999999999999999999\r\n\r\n`],
    ["in another encoding", `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ["with a folded header", `${ok}X-A: b\r\n c\r\n\r\n`],
    ["with a header without a name", `${ok}: b\r\n\r\n`],
    ["with a header of two words", `${ok}X A: b\r\n\r\n`],
    ["with a NUL in a header", `${ok}X-A: b\0\r\n\r\n`],
    ["with a bare line feed in its head", `${ok}X-A: b\nX-B: c\r\n\r\n`],
    ["that changes the protocol", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["that goes on behind its end", `${ok}Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK`],
    ["with a chunk without a size", `${chunked}\r\n`],
    ["with a chunk whose size is no number", `${chunked}xyz\r\n`],
    ["with a chunk of negative size", `${chunked}-5\r\nhello\r\n`],
    ["with a chunk of endless size", `${chunked}fffffffffffff\r\n`],
    ["with a chunk longer than said", `${chunked}5\r\nhello!\r\n`],
    ["with a bare line feed behind a size", `${chunked}5\nhello\r\n`],
    ["with an endless extension", `${chunked}5;${"a".repeat(20_000)}`],
    ["with endless trailers", `${chunked}0\r\n${"X-A: b\r\n".repeat(4000)}`],
    ["with an endless head", `${ok}X-A: ${"a".repeat(20_000)}`],
    ["with a head that is too long", `${ok}X-A: ${"a".repeat(20_000)}\r\n\r\n`],
    ["that never begins", "HTTP/1.1 100 Continue\r\n\r\n".repeat(20)],
  ])("%s", (_, text) => {
    expect(() => read([text])).toThrow("no HTTP/1.1");
    expect(() => read(text.split(""))).toThrow("no HTTP/1.1");
  });

  test.each([
    ["in its head", `${ok}Content-Len`],
    ["in its body", `${ok}Content-Length: 5\r\n\r\nhel`],
    ["in a chunk", `${chunked}5\r\nhel`],
    ["before the last chunk", `${chunked}5\r\nhello\r\n`],
    ["in its trailers", `${chunked}0\r\n`],
  ])("when the connection ends %s", (_, text) => {
    expect(read([text])).toMatchObject({ done: false, endsWell: false });
  });
});

test("a head that is like the one before is read as that one, and another one anew", () => {
  const heads = new HeadReader();
  const answer = (status: string) => [`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`];
  const [first, same, other] = ["200 OK", "200 OK", "503 Busy"].map((status) => read(answer(status), heads).head);
  expect(same).toBe(first);
  expect([first?.status, other?.status]).toEqual([200, 503]);
  expect(() => heads.read("HTTP/1.1 200 OK\r\nbroken")).toThrow("a header line cannot be read");
  expect(read(answer("503 Busy"), heads).head).toBe(other);
});
