import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "@jest/globals";
import { stopListening } from "#lib/door/workarounds/stop-listening.ts";

/** How a connection ends that has sent nothing when its server stops, and asks right after. */
async function askWhileStopping(stop: (server: Server) => void): Promise<string> {
  const server = createServer((_, response) => response.setHeader("connection", "close").end("answered"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const accepted = once(server, "connection");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await accepted;
  const closed = once(server, "close");
  stop(server);
  socket.on("error", () => {});
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  let answer = "";
  socket.on("data", (data) => {
    answer += data;
  });
  await once(socket, "close");
  await closed;
  server.close();
  return answer;
}

test("a connection whose first request is on its way is answered", async () => {
  expect(await askWhileStopping((server) => void stopListening(server))).toMatch(/answered$/);
});

test("Node.js alone cuts it, so the workaround is still needed", async () => {
  expect(await askWhileStopping((server) => server.close())).toBe("");
});
