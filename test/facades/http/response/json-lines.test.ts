import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Exchange } from "../../../../facades/http/exchange.ts";
import { sendLines } from "../../../../facades/http/response/json-lines.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";

let answer: AsyncIterable<{ lines: string[] }>;
let failed: unknown;
let isGivenUp = false;
const clock = new ManualClock();
const observer = {
  refused: () => {
    isGivenUp = true;
  },
};
const server = createServer((_, response) => {
  const exchange = {
    ...{ response, network: "127.0.0.1", isGone: false, bodyLimits: { unread: { add() {}, delete() {} } } },
    runtime: { clock, observer },
    begin: (status: number, type: string) => response.writeHead(status, { "content-type": type }),
  };
  sendLines(exchange as unknown as Exchange, answer).catch((error: unknown) => {
    failed = error;
    response.headersSent ? response.destroy() : response.writeHead(503).end();
  });
});
let url: string;
beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

async function* piecesOf(...pieces: (string[] | Error)[]) {
  for (const lines of pieces) {
    if (lines instanceof Error) {
      throw lines;
    }
    yield { lines };
  }
}

test("more lines than a socket takes at once arrive in their order", async () => {
  const pieces = Array.from({ length: 100 }, (_, piece) =>
    Array.from({ length: 50 }, (_, at) => `{"at":${piece * 50 + at},"text":"${"x".repeat(500)}"}`),
  );
  answer = piecesOf(...pieces);
  const response = await fetch(url);
  expect(response.headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
  const lines = (await response.text()).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).at)).toEqual(lines.map((_, at) => at));
  expect(lines).toHaveLength(5000);
});

test("a failure before the first line has a status of its own, and a later one breaks the connection", async () => {
  answer = piecesOf(new Error("at once"));
  expect((await fetch(url)).status).toBe(503);
  answer = piecesOf(["{}"], new Error("later"));
  await expect(fetch(url).then((response) => response.text())).rejects.toThrow();
  expect(failed).toMatchObject({ message: "later" });
});

test("a client that reads nothing for a minute is given up", async () => {
  const piece = ["x".repeat(1_000_000)];
  answer = piecesOf(...Array.from({ length: 100 }, () => piece));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
  socket.pause().write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await eventually("it is given up", async () => {
    await clock.pass(60_000);
    return isGivenUp;
  });
  socket.destroy();
});
