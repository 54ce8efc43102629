import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "@jest/globals";
import { Connection } from "./connection.ts";

/** What a client makes of the bytes of a response, sent in pieces of a size. */
async function receive(response: string, size: number): Promise<{ body: string; outcome: string }> {
  const server = createServer((socket) => {
    socket.on("data", () => {
      for (let at = 0; at < response.length; at += size) {
        socket.write(response.slice(at, at + size));
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await new Promise((resolve) => {
      let body = "";
      const finish = (outcome: string) => {
        connection.close();
        resolve({ body, outcome });
      };
      const connection = new Connection("127.0.0.1", (server.address() as AddressInfo).port, {
        body: (piece) => {
          body += piece.toString();
        },
        end: (status) => finish(String(status)),
        failed: finish,
      });
      connection.send(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    });
  } finally {
    server.close();
  }
}

test.each([
  ["a fixed length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", "200"],
  ["no body", "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n", "", "429"],
  [
    "chunks",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n there\r\n0\r\n\r\n",
    "hello there",
    "200",
  ],
  [
    "chunks and trailers",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\na: b\r\n\r\n",
    "0123456789",
    "200",
  ],
  ["a body without end", "HTTP/1.1 200 OK\r\n\r\n", "", "neither a length nor chunks"],
])("reads %s in pieces of any size", async (_, response, body, outcome) => {
  for (const size of [1, 2, 3, 7, response.length]) {
    expect(await receive(response, size)).toEqual({ body, outcome });
  }
});
