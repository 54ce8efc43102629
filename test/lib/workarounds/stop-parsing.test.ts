import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, test } from "@jest/globals";
import { stopParsing } from "#lib/workarounds/stop-parsing.ts";

const sent = 1000;

/** How many of the requests of one piece a server is given that ends the connection at the tenth. */
async function countGiven(end: (socket: Socket) => void): Promise<number> {
  let given = 0;
  const server = createServer((request) => {
    given += 1;
    if (given === 10) {
      end(request.socket);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => {}); // it may be told that the connection was reset
  client.write("GET / HTTP/1.1\r\nhost: t\r\n\r\n".repeat(sent));
  await once(client, "close");
  await new Promise((resolve) => server.close(resolve));
  return given;
}

test("no request is read out of what came on a connection that was ended", async () => {
  expect(await countGiven(stopParsing)).toBe(10);
});

test("the workaround is still needed: Node.js by itself reads on", async () => {
  expect(await countGiven((socket) => socket.destroy())).toBeGreaterThan(10);
});
