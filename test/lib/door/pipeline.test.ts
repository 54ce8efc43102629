import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { Door } from "#lib/door/door.ts";
import { startHttpServer } from "#lib/door/http-server.ts";
import { eventually } from "../../support/eventually.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

test("requests that wait on the connections of one network are bounded together, and given back with them", async () => {
  let refused = 0;
  const door = new Door({ listener: "payments", onRefused: () => refused++ });
  let answered = 0;
  const server = await startHttpServer(
    (request, response) => {
      if (request.url === "/now") {
        answered += 1;
        response.end();
      }
    },
    "127.0.0.1:0",
    { door, setting: "listen.webhooks" },
  );
  closing.push(() => server.close(0));
  const open = (): Socket => {
    const port = Number(server.address.split(":")[1]);
    const socket = connect({ host: "127.0.0.1", port, localAddress: "127.8.0.1" }).resume();
    socket.on("error", () => {});
    closing.push(() => socket.destroy());
    return socket;
  };
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nhost: t\r\n\r\n`;
  const sockets = Array.from({ length: 8 }, open);
  for (const socket of sockets) {
    socket.write(ask("/never") + ask("/later").repeat(6));
  }
  await eventually("the network has its 32", () => refused === 3);
  for (const socket of sockets) {
    socket.destroy();
  }
  await eventually("a newcomer may have requests wait again", async () => {
    open().write(ask("/now").repeat(5));
    return answered >= 5;
  });
  expect(refused).toBe(3);
});

test("this machine has 128 requests wait on a connection, which is closed for one more", async () => {
  const refused: string[] = [];
  const door = new Door({ listener: "payments", onRefused: (_, bound) => refused.push(bound) });
  let begun = 0;
  const server = await startHttpServer(() => void begun++, "127.0.0.1:0", { door, setting: "listen.webhooks" });
  closing.push(() => server.close(0));
  const socket = connect(Number(server.address.split(":")[1]), "127.0.0.1").on("error", () => {});
  closing.push(() => socket.destroy());
  const ask = "GET / HTTP/1.1\r\nhost: t\r\n\r\n";
  socket.write(ask.repeat(1 + 128));
  await eventually("the first is begun", () => begun === 1);
  expect(refused).toEqual([]);
  socket.write(ask);
  await eventually("it is closed", () => socket.resume().destroyed || socket.closed);
  expect([begun, refused]).toEqual([1, ["pipeline"]]);
});
