import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { type Listening, listenWidely, socketsOf } from "#lib/door/workarounds/wide-listening.ts";
import { eventually } from "../../../support/eventually.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

async function open(address: string, reusePort = false, server = createServer()): Promise<Listening> {
  const listening = await listenWidely(server, address, "listen.http", reusePort);
  closing.push(() => listening.stop());
  return listening;
}

/** How many connections came in each turn in which some came, of 40 that are made at once. */
async function countInTurns(server: Server, port: number): Promise<number[]> {
  const turns: number[] = [];
  let inThisTurn = 0;
  server.on("connection", () => {
    inThisTurn += 1;
  });
  const sockets = Array.from({ length: 40 }, () => connect(port, "127.0.0.1").on("error", () => {}));
  closing.push(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  let isOver = false;
  const turn = () => {
    turns.push(...(inThisTurn > 0 ? [inThisTurn] : []));
    inThisTurn = 0;
    isOver || setImmediate(turn);
  };
  turn();
  await eventually("all have come", () => turns.reduce((sum, count) => sum + count, 0) === 40);
  isOver = true;
  return turns;
}

test("several of the connections that wait are taken in at once", async () => {
  const server = createServer();
  const { address } = await open("127.0.0.1:0", false, server);
  const most = Math.max(...(await countInTurns(server, Number(address.split(":")[1]))));
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(socketsOf(server));
});

test("a socket of Node.js takes in one a turn, so the workaround is still needed", async () => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  closing.push(() => server.close());
  expect(Math.max(...(await countInTurns(server, (server.address() as AddressInfo).port)))).toBe(1);
});

test.each([
  ["alone", "alone", false, false],
  ["alone", "shared", false, true],
  ["shared", "alone", true, false],
])("a port that one has %s is not another's, who wants it %s", async (_has, _wants, has, wants) => {
  const { address } = await open("127.0.0.1:0", has);
  const taken = { message: expect.stringContaining("another process already does"), cause: { code: "EADDRINUSE" } };
  await expect(open(address, wants)).rejects.toMatchObject(taken);
});

test("a port is shared where both say so, and free once its server has stopped", async () => {
  const { address, stop } = await open("127.0.0.1:0", true);
  const second = await open(address, true);
  await Promise.all([stop(), second.stop()]);
  await (await open(address)).stop();
  await open(address);
});

test("a port of a program that is not ours is not taken from it", async () => {
  const foreign = createServer();
  await once(foreign.listen(0, "127.0.0.1"), "listening");
  closing.push(() => foreign.close());
  const { port } = foreign.address() as AddressInfo;
  await expect(open(`127.0.0.1:${port}`)).rejects.toMatchObject({ cause: { code: "EADDRINUSE", port } });
});

test("a server has stopped once the connections of all its sockets have ended", async () => {
  const server = createServer();
  const { address, stop } = await open("127.0.0.1:0", false, server);
  const port = Number(address.split(":")[1]);
  let accepted = 0;
  server.on("connection", (socket) => {
    accepted += 1;
    socket.on("error", () => {}).resume();
  });
  const sockets = Array.from({ length: 20 }, () => connect(port, "127.0.0.1").on("error", () => {}));
  await eventually("all have come", () => accepted === 20);
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  for (const socket of sockets) {
    expect(isStopped).toBe(false);
    socket.destroy();
    await once(socket, "close");
  }
  await stopped;
});
