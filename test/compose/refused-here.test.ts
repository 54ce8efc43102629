import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Registry } from "prom-client";
import { type ListenerName, listenerNames } from "#lib/door/bounds.ts";
import { Door } from "#lib/door/door.ts";
import { refusalLines } from "#lib/errors/refusal-lines.ts";
import { startAdminServer } from "#src/telemetry/admin-server.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { listeners } from "./doors/listeners.ts";

// What a listener itself refuses, before a surface or an interceptor hears of it, has an id that the log knows.

const made = /^req_[0-9a-f]{32}$/;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

async function start(name: ListenerName) {
  const clock = new ManualClock();
  const lines: object[] = [];
  const logger = { info: (fields: object) => void lines.push(fields) };
  const door = new Door({ listener: name, lines: refusalLines(logger, clock, { listener: name }) });
  const server = await listeners[name](door);
  closing.push(() => server.stop());
  return { clock, lines, address: server.address };
}

/** The ids of the answers to bytes, on a connection of their own. */
function send(address: string, bytes: string): Promise<string[]> {
  const [host = "", port] = address.split(":");
  const socket = connect({ host, port: Number(port) });
  let received = "";
  socket.setEncoding("latin1").on("data", (text) => {
    received += text;
  });
  socket.write(bytes);
  return new Promise((resolve) => {
    socket.once("close", () => resolve(Array.from(received.matchAll(/^x-request-id: (\S+)/gim), ([, id]) => id ?? "")));
  });
}

const ask = (line: string, ...headers: string[]) =>
  `${[`${line} HTTP/1.1`, "host: t", "connection: close", ...headers].join("\r\n")}\r\n\r\n`;

const overHttp = listenerNames.filter((name) => name !== "grpc");

describe.each(overHttp)("the listener %s gives an id and a line to", (name) => {
  test.each([
    ["a path that nobody serves", ask("GET /nowhere"), {}],
    ["a method that it does not take", ask("DELETE /nowhere"), {}],
    ["a head that can be read in two ways", ask("GET /livez", "host: u"), { status: 400 }],
    ["bytes that are no request", "no request\r\n\r\n", { status: 400 }],
    ["a head that is too long", ask("GET /livez", `x: ${"x".repeat(40_000)}`), { status: 431 }],
  ])("%s", async (_what, bytes, facts) => {
    const { address, lines } = await start(name);
    const [id, ...more] = await send(address, bytes);
    expect(more).toEqual([]);
    expect(id).toMatch(made);
    const network = "127.0.0.1";
    expect(lines).toEqual([
      {
        status: expect.any(Number),
        reason: expect.any(String),
        ...facts,
        requestId: id,
        listener: name,
        address: network,
      },
    ]);
  });
});

test("a caller's own id stays, and what can be none does not", async () => {
  const { address, lines } = await start("connect");
  expect(await send(address, ask("GET /nowhere", "x-tollgate-request-id: mine_1"))).toEqual(["mine_1"]);
  expect(await send(address, ask("GET /nowhere", "x-tollgate-request-id: no id"))).toEqual([
    expect.stringMatching(made),
  ]);
  expect(lines).toMatchObject([{ requestId: "mine_1" }, { requestId: expect.stringMatching(made) }]);
});

test.each([
  ["a method that nobody serves", "/test/Nothing", "application/grpc"],
  ["what is no gRPC", "/grpc.health.v1.Health/Check", "text/plain"],
])("over gRPC %s has an id and a line", async (_what, path, type) => {
  const { address, lines } = await start("grpc");
  const session = connectHttp2(`http://${address}`);
  closing.push(() => session.destroy());
  const stream = session.request({ ":method": "POST", ":path": path, "content-type": type });
  const head = await new Promise<Record<string, unknown>>((resolve) => stream.on("response", resolve));
  expect(head["x-request-id"]).toMatch(made);
  expect(lines).toEqual([
    { requestId: head["x-request-id"], reason: "UNSUPPORTED", listener: "grpc", address: "127.0.0.1" },
  ]);
});

test.each(["connect", "admin"] as const)(
  "a flood of them on %s has fifty lines in ten seconds, and one with their sum",
  async (name) => {
    const { address, lines, clock } = await start(name);
    const all = await send(address, `${"GET /nowhere HTTP/1.1\r\nhost: t\r\n\r\n".repeat(59)}${ask("GET /nowhere")}`);
    expect(new Set(all).size).toBe(60);
    expect(lines).toHaveLength(50);
    clock.advance(10_000);
    expect(lines.slice(50)).toEqual([{ refused: 10, reason: "UNSUPPORTED", seconds: 10, listener: name }]);
  },
);

test("an admin port that is not ready is asked again and again, and refuses nobody", async () => {
  const clock = new ManualClock();
  const lines: object[] = [];
  const door = new Door({ listener: "admin", lines: refusalLines({ info: (line) => void lines.push(line) }, clock) });
  const server = await startAdminServer("127.0.0.1:0", new Registry(), { ready: false }, undefined, door);
  closing.push(() => server.close());
  const response = await fetch(`http://${server.address}/readyz`);
  expect([response.status, response.headers.get("x-request-id"), lines]).toEqual([503, null, []]);
});
