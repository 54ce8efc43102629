import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { Door } from "#lib/door/door.ts";
import { drain } from "#lib/door/drain.ts";
import { startHttpServer } from "#lib/door/http-server.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { TurnCount } from "../../support/turns.ts";

// Bodies that nobody asked for, over the wire, from an address of which 8 MiB are read at once, and 4 MiB a second after.

const MiB = 1024 * 1024;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

async function start() {
  const clock = new ManualClock();
  const refused: string[] = [];
  const door = new Door({ listener: "admin", clock, onRefused: (_, bound) => refused.push(bound) });
  const server = await startHttpServer((_, response) => response.end("ok\n"), "127.0.0.1:0", {
    door,
    setting: "listen.admin",
  });
  closing.push(() => server.close(0));
  /** Sends a body of which so much comes. */
  const send = (length: number, sent = length, version = "1.1", headers = "") => {
    const socket = connect({
      ...{ host: "127.0.0.1", port: Number(server.address.split(":")[1]), localAddress: "127.8.0.1" },
      allowHalfOpen: headers !== "",
    });
    closing.push(() => socket.destroy());
    let received = "";
    const errors: Error[] = [];
    socket.setEncoding("latin1").on("error", (error) => errors.push(error));
    socket.on("data", (text) => {
      received += text;
    });
    socket.write(`POST / HTTP/${version}\r\nhost: t\r\n${headers}content-length: ${length}\r\n\r\n`);
    socket.write(Buffer.alloc(sent));
    return { socket, errors, count: () => received.split("HTTP/1.1 200").length - 1 };
  };
  return { clock, refused, send };
}

test("a body that comes after its answer is read, and the connection serves on", async () => {
  const { send, refused } = await start();
  const { socket, count } = send(6 * MiB);
  socket.write("GET / HTTP/1.1\r\nhost: t\r\n\r\n");
  await eventually("both are answered", () => count() === 2);
  expect(refused).toEqual([]);
});

test("more than the address's pace is read in its turn, or not at all", async () => {
  const { clock, send, refused } = await start();
  const first = send(6 * MiB);
  const second = send(6 * MiB);
  for (const { socket } of [first, second]) {
    socket.write("GET / HTTP/1.1\r\nhost: t\r\n\r\n");
  }
  await eventually("one of them waits", () => refused.includes("unwanted"));
  expect(first.count() + second.count()).toBeLessThan(4);
  await eventually("the rest is read as time passes", () => {
    clock.advance(100);
    return first.count() + second.count() === 4;
  });
});

test("a body of more than 8 MiB, or one that does not come in five seconds, ends the connection", async () => {
  const { clock, send } = await start();
  const large = send(9 * MiB);
  await eventually("it is closed", () => large.socket.destroyed);
  const slow = send(MiB, 10);
  await eventually("it is answered", () => slow.count() === 1);
  expect(slow.socket.destroyed).toBe(false);
  clock.advance(5000);
  await eventually("it is closed", () => slow.socket.destroyed);
});

test.each(["1.0", "1.1"])(
  "a client of HTTP/%s that asks for the connection's end gets its answer, and can send the rest of its body",
  async (version) => {
    const { send, refused } = await start();
    const { socket, count, errors } = send(2 * MiB, 10, version, "connection: close\r\n");
    await eventually("it is answered", () => count() === 1 && socket.readableEnded);
    expect(await new Promise((resolve) => socket.write(Buffer.alloc(2 * MiB - 10), resolve))).toBeFalsy();
    await eventually("the connection is closed", () => socket.end().closed);
    expect([errors, refused]).toEqual([[], []]);
  },
);

test("a connection's body is read a piece a turn of the event loop, and what others send comes between", async () => {
  const turns = new TurnCount();
  const unwanted = {
    take() {
      turns.note();
      return 0;
    },
  };
  const drains = { unwanted, clock: new ManualClock(), refused: () => {} };
  const sizes: number[] = [];
  const server = createServer(async (request, response) => {
    sizes.push(await drain(request, "", drains));
    response.end();
  }).listen(0, "127.0.0.1");
  closing.push(() => server.close().closeAllConnections());
  await once(server, "listening");
  const body = Buffer.alloc(4 * MiB);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await Promise.all([1, 2].map(() => fetch(url, { method: "POST", body })));
  expect(sizes).toEqual([4 * MiB, 4 * MiB]);
  expect(turns.stop().most).toBeLessThanOrEqual(4);
});
