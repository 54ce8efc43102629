import { json } from "./bodies.ts";

const smuggled = `POST /v1/chat/completions HTTP/1.1\r\nhost: t\r\ncontent-length: ${json.length}\r\n\r\n${json}`;
const head = (lines: string) =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: t\r\nauthorization: Bearer KEY\r\n${lines}\r\n\r\n`;

/** Requests that two servers could read in two ways, by what is wrong with them. KEY stands for a key. */
export const ambiguous: readonly [string, string][] = [
  ["a length and chunks", `${head(`content-length: 4\r\ntransfer-encoding: chunked`)}0\r\n\r\n${smuggled}`],
  ["chunks and a length", `${head(`transfer-encoding: chunked\r\ncontent-length: 4`)}0\r\n\r\n${smuggled}`],
  ["two lengths", `${head(`content-length: ${json.length}\r\ncontent-length: 0`)}${json}${smuggled}`],
  ["a length that is no number", `${head(`content-length: +${json.length}`)}${json}${smuggled}`],
  ["an unknown transfer encoding", `${head("transfer-encoding: xchunked")}0\r\n\r\n${smuggled}`],
  ["chunked before another encoding", `${head("transfer-encoding: chunked, identity")}0\r\n\r\n${smuggled}`],
  ["a blank before the colon", `${head("transfer-encoding : chunked")}0\r\n\r\n${smuggled}`],
  [
    "a header folded over two lines",
    `${head("transfer-encoding:\r\n chunked\r\ncontent-length: 4")}0\r\n\r\n${smuggled}`,
  ],
  ["line feeds alone", head("content-length: 0").replaceAll("\r\n", "\n")],
  ["a chunk size that is no number", `${head("transfer-encoding: chunked")}zz\r\n${smuggled}`],
  ["a carriage return in a header", head("x-a: b\rtransfer-encoding: chunked")],
  ["a NUL in a header", head("x-a: b\0c")],
  ["no host", `GET /v1/models HTTP/1.1\r\nauthorization: Bearer KEY\r\n\r\n`],
];

/** What is no request, or one without an end, with the statuses that it gets. */
export const unreadable: readonly [string, string | Buffer, number[]][] = [
  ["a head without an end", `GET / HTTP/1.1\r\nhost: t\r\n${"x-a: b\r\n".repeat(8000)}`, [431]],
  ["a path without an end", `GET /${"a".repeat(100_000)} HTTP/1.1\r\nhost: t\r\n\r\n`, [431]],
  ["HTTP/2 out of the blue", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400]],
  ["a method of its own", "BREW / HTTP/1.1\r\nhost: t\r\n\r\n", [400]],
  ["TLS", Buffer.from("160301020001000001fc0303", "hex"), [400]],
  ["a tunnel", "CONNECT 169.254.169.254:80 HTTP/1.1\r\nhost: 169.254.169.254\r\n\r\n", []],
];
