import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "@jest/globals";
import { Door } from "#lib/door/door.ts";
import { type HttpServerOptions, startHttpServer } from "#lib/door/http-server.ts";
import { noteCounted } from "#lib/door/paced-response.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { pause } from "../../support/pause.ts";

// Over the wire, from addresses that have 100 refusals at once, and 50 a second after that. Of other answers that nothing
// counts they have twice as many.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  exchanges.length = 0;
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");
/** The requests and responses of the test that runs. */
const exchanges: WeakRef<object>[] = [];

/** Answers with the status that a path names, and with the body of a header. */
const byPath: RequestListener = (request, response) => {
  exchanges.push(new WeakRef(request), new WeakRef(response));
  const { url = "", headers } = request;
  if (headers.authorization !== undefined) {
    noteCounted(response);
  }
  const body = Buffer.from(String(headers["x-body"] ?? ""));
  response.writeHead(Number(url.slice(1)), { "content-length": body.length }).end(body);
};

async function start(options: Partial<HttpServerOptions> = {}, connectionsPerAddress = 100) {
  const clock = new ManualClock();
  const refused: string[] = [];
  const door = new Door({
    ...{ listener: "admin", clock, limits: { connections: 1000, connectionsPerAddress } },
    onRefused: (_, bound) => refused.push(bound),
  });
  const server = await startHttpServer(byPath, "127.0.0.1:0", { door, setting: "listen.admin", ...options });
  closing.push(() => server.close(0));
  const close = () => server.close(60_000);
  const open = (localAddress: string) => {
    const socket = connect({ host: "127.0.0.1", port: Number(server.address.split(":")[1]), localAddress });
    closing.push(() => socket.destroy());
    let received = "";
    socket.setEncoding("latin1").on("error", () => {});
    socket.on("data", (text) => {
      received += text;
    });
    const statuses = () =>
      received
        .split("HTTP/1.1 ")
        .slice(1)
        .map((answer) => Number(answer.slice(0, 3)));
    return { socket, statuses, count: () => statuses().length, text: () => received };
  };
  return { clock, refused, open, close };
}

const ask = (status: number, more = "") => `GET /${status} HTTP/1.1\r\nhost: t\r\n${more}\r\n`;

type Service = Awaited<ReturnType<typeof start>>;

/** Has 100 requests answered, few enough at once for a network's share of what may wait. */
async function askHundred({ socket, count }: ReturnType<Service["open"]>, request: string): Promise<void> {
  for (let answered = 25; answered <= 100; answered += 25) {
    socket.write(request.repeat(25));
    await eventually("what was asked is answered", () => count() === answered);
  }
}

/** Has 100 refusals answered at once, and one more that waits. */
async function flood({ refused, open }: Service, from: string, more = "") {
  const client = open(from);
  await askHundred(client, ask(404, more));
  client.socket.write(ask(404, more));
  await eventually("one more waits", () => refused.includes("refusals"));
  expect(client.count()).toBe(100);
  return client;
}

test("a refusal beyond its network's pace waits for its turn, and nobody else does", async () => {
  const service = await start();
  const client = await flood(service, "127.8.0.1");
  const other = service.open("127.8.1.1");
  other.socket.write(ask(404));
  await eventually("another network is answered", () => other.count() === 1);
  const right = service.open("127.8.0.1");
  right.socket.write(ask(200));
  await eventually("what is no refusal is answered", () => right.count() === 1);
  expect(client.count()).toBe(100);
  service.clock.advance(20);
  await eventually("its turn has come", () => client.count() === 101);
  expect(service.refused).toEqual(["refusals"]);
});

test.each([200, 204, 303, 304, 503])(
  "an answer %d that nothing counts waits for its turn beyond a pace, too",
  async (status) => {
    const { clock, refused, open } = await start();
    const [first, second, counted] = [open("127.8.0.1"), open("127.8.0.1"), open("127.8.0.1")];
    await askHundred(first, ask(status));
    await askHundred(second, ask(status));
    second.socket.write(ask(status));
    await eventually("one more waits", () => refused.length === 1);
    await askHundred(counted, ask(status, "authorization: Bearer right\r\n")); // what a rate counts waits for nothing
    expect(second.count()).toBe(100);
    clock.advance(10);
    await eventually("its turn has come", () => second.count() === 101);
    expect(refused).toEqual(["uncounted"]);
  },
);

test("a client that does not wait for its turn keeps its place until then", async () => {
  const service = await start({}, 1);
  const { socket } = await flood(service, "127.8.0.1");
  socket.resetAndDestroy();
  const isClosed = async (next: Socket) => {
    next.write(ask(200));
    await Promise.race([once(next, "close"), once(next, "data")]);
    return next.destroyed;
  };
  await eventually("there is no place for another connection", async () => isClosed(service.open("127.8.0.1").socket));
  expect(service.refused).toContain("connections_per_address");
  service.clock.advance(20);
  await eventually("there is one", async () => !(await isClosed(service.open("127.8.0.1").socket)));
});

test("behind a proxy each client has turns of its own", async () => {
  const service = await start({ toClient: ({ headers }) => String(headers["x-forwarded-for"]) });
  const client = await flood(service, "127.8.0.1", "x-forwarded-for: 192.0.2.1\r\n");
  const other = service.open("127.8.0.1");
  other.socket.write(ask(404, "x-forwarded-for: 198.51.100.1\r\n"));
  await eventually("another client is answered", () => other.count() === 1);
  expect(client.count()).toBe(100);
});

test("what waits is kept as its bytes alone: neither its request nor its response stays", async () => {
  const { refused, open } = await start();
  const clients = Array.from({ length: 40 }, () => open("127.8.0.1"));
  const countKept = () => {
    collect();
    return exchanges.filter((exchange) => exchange.deref() !== undefined).length;
  };
  for (const answered of [1, 2]) {
    for (const { socket } of clients) {
      socket.write(ask(404));
    }
    await eventually("forty are answered", () => clients.every(({ count }) => count() === answered));
  }
  const before = countKept();
  for (const { socket } of clients) {
    socket.write(ask(404));
  }
  await eventually("twenty wait", () => refused.length === 20);
  await eventually("Node.js has forgotten them", () => countKept() <= before + 5);
});

test("an answer that waits comes whole, and before what was asked behind it", async () => {
  const service = await start();
  const client = await flood(service, "127.8.0.1", "x-body: why not\r\n");
  client.socket.write(ask(200, "authorization: Bearer right\r\n"));
  const other = service.open("127.8.1.1");
  other.socket.write(ask(200));
  await eventually("another client is answered", () => other.count() === 1);
  expect(client.count()).toBe(100);
  service.clock.advance(20);
  await eventually("both are answered", () => client.count() === 102);
  expect(client.statuses().slice(99)).toEqual([404, 404, 200]);
  expect(client.text().split("why not")).toHaveLength(102);
});

test("bytes that are no request are refused after an answer that waits", async () => {
  const service = await start();
  const client = await flood(service, "127.8.0.1");
  client.socket.write("nonsense\r\n\r\n");
  await eventually("they have come", () => service.open("127.8.0.1") && service.refused.length === 1);
  service.clock.advance(20);
  await eventually("both are answered", () => client.count() === 102);
  expect(client.statuses().slice(99)).toEqual([404, 404, 400]);
});

test("an answer after which its connection ends waits, too", async () => {
  const { clock, refused, open } = await start();
  const first = open("127.8.0.1");
  await askHundred(first, ask(404));
  const last = open("127.8.0.1");
  last.socket.write(ask(404, "connection: close\r\n"));
  await eventually("it waits", () => refused.includes("refusals"));
  expect(last.count()).toBe(0);
  clock.advance(20);
  await once(last.socket, "close");
  expect(last.statuses()).toEqual([404]);
});

test("a server that closes lets an answer that waits have its turn", async () => {
  const service = await start();
  const client = await flood(service, "127.8.0.1");
  const closed = service.close();
  await pause(150, "its sweep closes what is idle");
  expect(client.socket.closed).toBe(false);
  service.clock.advance(20);
  await eventually("its turn has come", () => client.count() === 101);
  await closed;
});
