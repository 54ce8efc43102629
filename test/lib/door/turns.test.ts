import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, expect, test } from "@jest/globals";
import { Door, type DoorOptions } from "#lib/door/door.ts";
import { startHttpServer } from "#lib/door/http-server.ts";
import type { ServerTls } from "#lib/net/tls-identity.ts";
import { createAuthority } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { pause } from "../../support/pause.ts";

// What waits for a turn of the event loop, over the wire. test/compose/doors.test.ts walks all listeners.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

/** A server whose turns are made by hand. */
async function start(options: Partial<DoorOptions> = {}, tls?: ServerTls) {
  const due: (() => void)[] = [];
  const door = new Door({ listener: "public", nextTurn: (run) => due.push(run), ...options });
  const server = await startHttpServer((_, response) => response.end(), "127.0.0.1:0", {
    ...{ door, setting: "listen.http", ...(tls && { tls }) },
  });
  closing.push(() => server.close(0));
  const port = Number(server.address.split(":")[1]);
  const sockets: Socket[] = [];
  const open = (bytes: string) => {
    const raw = connect({ host: "127.0.0.1", port, localAddress: "127.8.0.1" }).on("error", () => {});
    const socket = tls === undefined ? raw : connectTls({ socket: raw, rejectUnauthorized: false });
    socket.on("error", () => {}).resume();
    socket.write(bytes);
    sockets.push(socket);
    closing.push(() => raw.destroy());
  };
  return {
    ...{ door, open, sockets },
    answered: () => sockets.filter(({ bytesRead }) => bytesRead > 0).length,
    turn() {
      for (const run of due.splice(0)) {
        run();
      }
    },
  };
}

const ask = "GET / HTTP/1.1\r\nhost: t\r\n\r\n";

test("a connection over TLS that had to wait is served, though its first bytes came before its turn", async () => {
  const { cert, key } = createAuthority().issue("server");
  const current = { cert: Buffer.from(cert), key: Buffer.from(key) };
  const { door, open, answered, turn } = await start({}, { current, onRenewed: () => () => {} });
  for (let at = 0; at < 3; at += 1) {
    open(ask);
  }
  await eventually("all have come, and the first is served", () => door.connections.size === 3 && answered() === 1);
  turn();
  await eventually("the second is served", () => answered() === 2);
  turn();
  await eventually("the third is served", () => answered() === 3);
});

test("the connections of a trusted proxy wait for nothing", async () => {
  const { open, answered } = await start({ isTrustedProxy: (address) => address === "127.8.0.1" });
  for (let at = 0; at < 3; at += 1) {
    open(ask);
  }
  await eventually("all are served", () => answered() === 3);
});

test("a client that leaves while its connection waits costs nobody anything", async () => {
  const { door, open, sockets, answered, turn } = await start();
  for (let at = 0; at < 10; at += 1) {
    open(ask);
  }
  await eventually("all have come, and eight are served", () => door.connections.size === 10 && answered() === 8);
  const [leaver] = sockets.filter(({ bytesRead }) => bytesRead === 0);
  leaver?.resetAndDestroy();
  await eventually("it has gone", () => door.connections.size === 9);
  await eventually("the other is served, in a turn of its own where its network owes by now", () => {
    turn();
    return answered() === 9;
  });
});

test("broken connections of a network are ended one a turn", async () => {
  const refused: string[] = [];
  const { open, sockets, answered, turn } = await start({ onRefused: (_, bound) => refused.push(bound) });
  for (let at = 1; at <= 3; at += 1) {
    open(ask);
    await eventually("it is taken in and served", () => answered() === at);
    turn();
  }
  for (const socket of sockets) {
    socket.write("no HTTP at all\r\n\r\n");
  }
  for (let ended = 1; ended <= 3; ended += 1) {
    await eventually("the next is ended", () => refused.length >= ended);
    await pause(10, "no other may be ended in this turn");
    expect(refused).toEqual(Array(ended).fill("head"));
    turn();
  }
});
