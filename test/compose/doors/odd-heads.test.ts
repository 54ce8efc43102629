import { describe, expect, test } from "@jest/globals";
import { listenerNames } from "#lib/door/bounds.ts";
import { startListener } from "./listeners.ts";

/** Heads that two servers could read differently. */
const odd: readonly [what: string, head: string, status: number][] = [
  ["chunks in HTTP/1.0", "POST /x HTTP/1.0\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", 400],
  [
    "a length and chunks",
    "POST /x HTTP/1.1\r\nhost: t\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
    400,
  ],
  ["two lengths", "POST /x HTTP/1.1\r\nhost: t\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n", 400],
  ["gzip before chunks", "POST /x HTTP/1.1\r\nhost: t\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400],
  ["two hosts", "GET /livez HTTP/1.1\r\nhost: t\r\nHost: u\r\n\r\n", 400],
  ["no host", "GET /livez HTTP/1.1\r\nx: y\r\n\r\n", 400],
  ["an expectation of its own", "GET /livez HTTP/1.1\r\nhost: t\r\nexpect: 200-ok\r\n\r\n", 417],
];

const speakHttp = listenerNames.filter((name) => name !== "grpc");

describe.each(speakHttp)("the listener %s", (name) => {
  test.each(odd)("refuses %s and ends the connection, whatever follows", async (_, head, status) => {
    const { open, refused } = await startListener(name, {});
    const socket = open();
    let received = "";
    socket.setEncoding("latin1").on("data", (text) => {
      received += text;
    });
    socket.write(`${head}${"GET /livez HTTP/1.1\r\nhost: t\r\n\r\n"}`);
    await new Promise((done) => socket.once("close", done));
    expect(Array.from(received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, code]) => Number(code))).toEqual([status]);
    expect(refused).toEqual([`${name} head`]);
  });
});
