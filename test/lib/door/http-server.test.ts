import { once } from "node:events";
import { type IncomingMessage, type RequestListener, request, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, test } from "@jest/globals";
import { Door } from "#lib/door/door.ts";
import { startHttpServer } from "#lib/door/http-server.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";

const startServer = (listener: RequestListener, address: string) =>
  startHttpServer(listener, address, {
    door: new Door({ listener: "public" }),
    setting: "listen.http",
    answerMalformed: ({ status, message }) => ({ status, body: message, headers: {} }),
  });

const echo: RequestListener = (incoming, response) => {
  response.end(incoming.url);
};

test("says where it listens", async () => {
  const server = await startServer(echo, "127.0.0.1:0");
  expect(server.url).toBe(`http://${server.address}`);
  expect(await (await fetch(`${server.url}/x`)).text()).toBe("/x");
  await server.close(0);
  await expect(fetch(server.url)).rejects.toThrow();
});

test("takes IPv6 addresses and names", async () => {
  for (const host of ["[::1]", "localhost"]) {
    const server = await startServer(echo, `${host}:0`);
    expect((await fetch(server.url)).status).toBe(200);
    await server.close(0);
  }
});

test("says what is wrong with an address", async () => {
  const server = await startServer(echo, "127.0.0.1:0");
  await expect(startServer(echo, server.address)).rejects.toThrow(
    `Cannot listen on ${server.address}: another process already does`,
  );
  await expect(startServer(echo, "192.0.2.1:0")).rejects.toThrow(
    "Cannot listen on 192.0.2.1:0: this machine has no such address",
  );
  await expect(startServer(echo, "8080")).rejects.toThrow("listen.http must be an address such as");
  await server.close(0);
});

test("a drain lets a running response finish and refuses new connections", async () => {
  const running = Promise.withResolvers<ServerResponse>();
  const server = await startServer((_request, response) => {
    response.write("begun");
    running.resolve(response);
  }, "127.0.0.1:0");
  const outgoing = request(server.url).end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  const response = await running.promise;
  let closed = false;
  const closing = server.close(60_000).then(() => {
    closed = true;
  });
  await expect(fetch(server.url)).rejects.toThrow();
  expect(closed).toBe(false);
  response.end("done");
  expect(Buffer.concat(await incoming.toArray()).toString()).toBe("begundone");
  await closing;
});

test("a drain does not wait for idle connections", async () => {
  const server = await startServer(echo, "127.0.0.1:0");
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nhost: t\r\n\r\n");
  await once(socket, "data");
  await server.close(60_000);
});

test("a drain waits a moment for connections that have asked nothing, and serves those that do", async () => {
  const server = await startServer(echo, "127.0.0.1:0");
  const [silent, speaking] = [1, 2].map(() => connect(Number(new URL(server.url).port), "127.0.0.1"));
  await Promise.all([silent, speaking].map((socket) => once(socket as Socket, "connect")));
  await (await fetch(server.url)).text(); // the server has seen the two before
  const closing = server.close(60_000);
  speaking?.write("GET /late HTTP/1.1\r\nhost: t\r\n\r\n");
  const [answer] = await once(speaking as Socket, "data");
  expect(String(answer)).toContain("/late");
  await closing;
});

test("a drain cuts what outlives its deadline", async () => {
  const server = await startServer((_request, response) => {
    response.write("forever");
  }, "127.0.0.1:0");
  const outgoing = request(server.url).end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  incoming.resume();
  const cut = new Promise((resolve) => incoming.on("error", resolve));
  await server.close(10);
  expect(await cut).toMatchObject({ code: "ECONNRESET" });
});

test("a head that is too large is refused", async () => {
  const server = await startServer(echo, "127.0.0.1:0");
  const response = await fetch(server.url, { headers: { "x-large": "x".repeat(40_000) } });
  expect(response.status).toBe(431);
  await server.close(0);
});

test("a head that can be read in two ways is refused", async () => {
  const server = await startServer(echo, "127.0.0.1:0");
  const client = connect(Number(new URL(server.url).port), "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n");
  const [answer] = await once(client, "data");
  expect(String(answer)).toMatch(/^HTTP\/1.1 400 /);
  client.destroy();
  await server.close(0);
});

test.each(["payments", "admin", "docs"] as const)(
  "an answer of %s that nobody reads is cut off after a minute",
  async (listener) => {
    const clock = new ManualClock();
    const refused: string[] = [];
    const door = new Door({ listener, clock, onRefused: (name, bound) => refused.push(`${name} ${bound}`) });
    const file = Buffer.alloc(20 * 1024 * 1024);
    const server = await startHttpServer((_, response) => response.end(file), "127.0.0.1:0", {
      door,
      setting: "--listen",
    });
    const [host = "", port] = server.address.split(":");
    const client = connect(Number(port), host).pause();
    client.write("GET / HTTP/1.1\r\nhost: t\r\n\r\n");
    await eventually("it waits", () => door.unread.bytes > 0);
    for (let second = 0; second < 600; second++) {
      clock.advance(1000);
    }
    expect([refused, door.unread.bytes]).toEqual([[`${listener} slow_reader`], 0]);
    client.destroy();
    await server.close(0);
  },
);
