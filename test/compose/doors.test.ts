import { globSync, readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { type BoundName, boundNames, type ListenerName, listenerNames } from "#lib/door/bounds.ts";
import { Door, type DoorOptions } from "#lib/door/door.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { eventually } from "../support/eventually.ts";
import { pause } from "../support/pause.ts";
import { listeners } from "./door-listeners.ts";

// Every listener has every bound: walked over the real wire, and compared with the table of docs/operations.md.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

async function start(name: ListenerName, options: Partial<DoorOptions>) {
  const refused: string[] = [];
  const door = new Door({
    ...{ ...options, listener: name },
    onRefused: (listener, bound) => refused.push(`${listener} ${bound}`),
  });
  const server = await listeners[name](door);
  closing.push(() => server.stop());
  const [host = "", port] = server.address.split(":");
  return {
    ...{ name, refused, door },
    open(localAddress = "127.0.0.1"): Socket {
      const socket = connect({ host, port: Number(port), localAddress })
        .resume()
        .on("error", () => {});
      closing.push(() => socket.destroy());
      return socket;
    },
  };
}

type Started = Awaited<ReturnType<typeof start>>;

/** How to reach a bound of any listener: the door's options, and what a client does. */
const attacks: Partial<
  Record<BoundName, { options: Partial<DoorOptions>; attack(started: Started, clock: ManualClock): Promise<void> }>
> = {
  connections: {
    options: { limits: { connections: 2, connectionsPerAddress: 100 } },
    attack: openMany(3),
  },
  connections_per_address: {
    options: { limits: { connections: 6, connectionsPerAddress: 3 } },
    attack: openMany(4),
  },
  connection_rate: {
    options: { limits: { connections: 1000, connectionsPerAddress: 100 } },
    async attack({ open }) {
      for (let at = 0; at <= 100; at += 1) {
        const socket = open(stranger);
        await new Promise((done) => socket.once("connect", done));
        socket.destroy();
      }
    },
  },
  idle: {
    options: { limits: { connections: 10, connectionsPerAddress: 10 } },
    async attack(started, clock) {
      await openMany(9)(started);
      await eventually("they are let in", () => started.door.connections.size === 9);
      clock.advance(1000);
      await openMany(1)(started);
    },
  },
  silent: {
    options: {},
    async attack(started, clock) {
      await openMany(1)(started);
      await eventually("it is let in", () => started.door.connections.size === 1);
      clock.advance(15_000);
    },
  },
  head: {
    options: {},
    async attack({ open }) {
      open().write(`GET / HTTP/1.1\r\nhost: t\r\nx: ${"x".repeat(40_000)}\r\n\r\n`);
    },
  },
  pipeline: {
    options: {},
    async attack({ open }) {
      open().write("GET /livez HTTP/1.1\r\nhost: t\r\n\r\n".repeat(400));
    },
  },
  refusals: {
    options: {},
    async attack({ name, open }) {
      const socket = open(stranger);
      if (name === "grpc") {
        callGrpc(socket, "/nowhere", 110);
      } else {
        keepAsking(socket, "GET /nowhere HTTP/1.1\r\nhost: t\r\n\r\n");
      }
    },
  },
  uncounted: {
    options: {},
    async attack({ name, open }) {
      if (name === "grpc") {
        callGrpc(open(stranger), "/grpc.health.v1.Health/Check", 210);
        return;
      }
      keepAsking(open(stranger), uncounted[name] ?? "GET / HTTP/1.1\r\nhost: t\r\n\r\n");
    },
  },
  unwanted: {
    options: {},
    async attack({ open }) {
      for (const socket of [open(stranger), open(stranger)]) {
        socket.write(`PUT /nowhere HTTP/1.1\r\nhost: t\r\ncontent-length: ${6 * MiB}\r\n\r\n`);
        socket.write(Buffer.alloc(6 * MiB));
      }
    },
  },
};

/** What a listener answers without a credential, and that no rate counts, where it is not the first page. */
const uncounted: Partial<Record<ListenerName, string>> = {
  admin: "GET /livez HTTP/1.1\r\nhost: t\r\n\r\n",
  connect:
    "POST /grpc.health.v1.Health/Check HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
};

/** An address of this machine that counts as somebody's elsewhere. */
const stranger = "127.8.0.1";
const MiB = 1024 * 1024;

/** Asks again as soon as an answer has come. */
function keepAsking(socket: Socket, request: string): void {
  socket.on("data", () => socket.write(request)).write(request);
}

function callGrpc(socket: Socket, path: string, calls: number): void {
  const session = connectHttp2("http://t", { createConnection: () => socket }).on("error", () => {});
  for (let at = 0; at < calls; at += 1) {
    const call = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    call
      .on("error", () => {})
      .resume()
      .end(Buffer.alloc(5));
  }
}

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
    const { open, refused } = await start(name, {});
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

function openMany(count: number) {
  return async ({ open }: Started) => {
    const sockets = Array.from({ length: count }, () => open());
    await Promise.all(sockets.map((socket) => new Promise((done) => socket.once("connect", done).once("close", done))));
  };
}

/**
 * gRPC's library bounds heads and streams itself, and ends a call's body with its answer. On the payments' port nothing
 * but a signature gets an answer that is no refusal.
 */
const without: readonly string[] = ["grpc head", "grpc pipeline", "grpc unwanted", "payments uncounted"];

describe.each(listenerNames)("the listener %s", (name) => {
  test.each(Object.keys(attacks) as BoundName[])("has the bound %s, and counts it", async (bound) => {
    const found = attacks[bound];
    if (found === undefined || without.includes(`${name} ${bound}`)) {
      return;
    }
    const clock = new ManualClock();
    const started = await start(name, { ...found.options, clock });
    await found.attack(started, clock);
    await eventually("it is counted", () => started.refused.includes(`${name} ${bound}`));
  });
});

/** A client of a listener that asks for what is not there, and counts its answers. */
function askerOf(name: ListenerName, socket: Socket) {
  const asker = { answers: 0, ask: () => void socket.write("GET /nowhere HTTP/1.1\r\nhost: t\r\n\r\n") };
  if (name === "grpc") {
    const session = connectHttp2("http://t", { createConnection: () => socket }).on("error", () => {});
    asker.ask = () => {
      const call = session.request({ ":method": "POST", ":path": "/nowhere", "content-type": "application/grpc" });
      call.on("response", () => asker.answers++).on("error", () => {});
      call.resume().end(Buffer.alloc(5));
    };
  } else {
    socket.on("data", (bytes: Buffer) => {
      asker.answers += bytes.toString("latin1").split("HTTP/1.1 ").length - 1;
    });
  }
  return asker;
}

describe.each(listenerNames)("the listener %s", (name) => {
  test("takes in eight new connections of a network a turn, or one, and one request, while that owes for refusals", async () => {
    const due: (() => void)[] = [];
    let isHeld = true;
    const nextTurn = (run: () => void) => void (isHeld ? due.push(run) : setImmediate(run));
    const { open, door } = await start(name, { nextTurn });
    const turn = async () => {
      for (const run of due.splice(0)) {
        run();
      }
      await pause(5, "what this turn let in is answered, and no more");
    };
    const askers = Array.from({ length: 10 }, () => askerOf(name, open(stranger)));
    const answered = () => askers.reduce((sum, { answers }) => sum + answers, 0);
    const askAll = () => askers.forEach(({ ask }) => void ask());
    askAll();
    await eventually("all have come, and eight are taken in", () => door.connections.size === 10 && answered() >= 8);
    expect(answered()).toBe(8);
    isHeld = false;
    await turn();
    await eventually("so are the others", () => answered() === 10);
    for (let asked = 20; asked <= 40; asked += 10) {
      askAll();
      await eventually("they are answered, the first ones at once", () => answered() === asked);
    }
    isHeld = true;
    askAll();
    for (let taken = 41; taken <= 43; taken += 1) {
      await eventually("the next is answered", () => answered() >= taken);
      expect(answered()).toBe(taken);
      await turn();
    }
    isHeld = false;
    await turn();
    await eventually("all are answered", () => answered() === 50);
    isHeld = true;
    const newcomers = [askerOf(name, open(stranger)), askerOf(name, open(stranger))];
    newcomers.forEach(({ ask }) => void ask());
    await eventually("both have come", () => door.connections.size === 12);
    await eventually("one is taken in", () => newcomers.some(({ answers }) => answers === 1));
    expect(newcomers.filter(({ answers }) => answers === 1)).toHaveLength(1);
    await turn();
    await eventually("so is the other", () => newcomers.every(({ answers }) => answers === 1));
  });
});

const floods = (of: string) => `test/facades/http/floods/${of}.test.ts`;
const calls = "test/wire/grpc/server/door-bounds.test.ts";
const readers = "test/wire/grpc/server/slow-readers.test.ts";
const http = "test/lib/door/http-server.test.ts";
const program = "test/attack/attacks.ts";

/** The tests that reach and count the bounds that are not walked here: they take a listener's own handler. */
const reachedBy: Partial<Record<BoundName, Partial<Record<ListenerName, string>>>> = {
  requests_per_address: { public: floods("connections") },
  calls: { console: calls, connect: calls, grpc: calls },
  rate: { public: program, console: program, connect: calls, grpc: calls },
  credentials: { public: program, console: program, connect: calls, grpc: calls },
  bodies: { public: floods("bodies"), console: calls, connect: calls, grpc: calls, payments: calls },
  slow_body: { public: floods("bodies"), console: calls, connect: calls, grpc: calls, payments: calls },
  slow_reader: {
    ...{ public: floods("unread-answers"), console: readers, connect: readers, grpc: readers },
    ...{ payments: calls, admin: http, docs: http },
  },
  overload: { public: floods("overload") },
};

test("nothing listens but through a door", () => {
  const listening = globSync(["lib/**/*.ts", "src/**/*.ts", "facades/**/*.ts"], {
    exclude: ["simulator/**", "lib/door/**"],
  })
    .filter((path) => /\bcreate(Secure)?Server\b|net\/listen\.ts"/.test(readFileSync(path, "utf8")))
    .toSorted();
  // gRPC's library takes the connections that its listener has let in. The others try whether an address is free.
  expect(listening).toEqual([
    "src/cli/check/findings/listen.ts",
    "src/compose/process/taken-port.ts",
    "src/wire/grpc/server/server.ts",
  ]);
});

test("the table in docs/operations.md has every listener and every bound", () => {
  const [, table = ""] =
    /## Floods[\s\S]*?\n(\| bound[\s\S]*?)\n\n/.exec(readFileSync("docs/operations.md", "utf8")) ?? [];
  const rows = table.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const [head = [], , ...body] = rows;
  expect(head).toEqual(["bound", ...listenerNames]);
  expect(body.map(([bound]) => bound)).toEqual(boundNames.map((bound) => `\`${bound}\``));
  for (const bound of Object.keys(attacks)) {
    const cells = body.find(([first]) => first === `\`${bound}\``)?.slice(1) ?? [];
    const unbounded = listenerNames.filter((_, at) => cells[at] === "–");
    expect([bound, unbounded]).toEqual([bound, listenerNames.filter((name) => without.includes(`${name} ${bound}`))]);
  }
  for (const bound of boundNames.filter((name) => attacks[name] === undefined)) {
    const cells = body.find(([first]) => first === `\`${bound}\``)?.slice(1) ?? [];
    const bounded = listenerNames.filter((_, at) => cells[at] !== "–");
    expect([bound, Object.keys(reachedBy[bound] ?? {}).toSorted()]).toEqual([bound, bounded.toSorted()]);
    for (const file of Object.values(reachedBy[bound] ?? {})) {
      expect(readFileSync(file, "utf8")).toMatch(new RegExp(`\\b${bound}\\b`));
    }
  }
});
