import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, expect, test } from "@jest/globals";
import { sendRest, sendWhole, watchEnd } from "#lib/net/send-whole.ts";
import { UnreadAnswers } from "#lib/net/unread-answers.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const KiB = 1024;

/** The other end of a connection, which takes what was written last each time that a test lets it. */
class Reader extends Duplex {
  received = Buffer.alloc(0);
  #waiting: (() => void) | undefined;

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.received = Buffer.concat([this.received, chunk]);
    this.#waiting = done;
  }

  async accept(): Promise<void> {
    const done = this.#waiting;
    this.#waiting = undefined;
    done?.();
    await turn();
    await turn();
  }
}

let clock: ManualClock;
let cut: number;
let unread: UnreadAnswers;
let reader: Reader;
let response: ServerResponse;
beforeEach(async () => {
  clock = new ManualClock();
  cut = 0;
  unread = new UnreadAnswers(64 * KiB * KiB, clock, () => cut++);
  reader = new Reader();
  reader.on("error", () => {});
  const server = createServer();
  const requested = once(server, "request");
  server.emit("connection", reader);
  reader.push("GET / HTTP/1.1\r\nhost: t\r\n\r\n");
  [, response] = (await requested) as [IncomingMessage, ServerResponse];
});

const owner = () => "a";

function pass(seconds: number): void {
  for (let i = 0; i < seconds; i++) {
    clock.advance(1000);
  }
}

function send(text: string): void {
  const length = Buffer.byteLength(text);
  response.writeHead(200, { "content-length": String(length) });
  sendWhole(response, text, length, owner, unread);
}

test.each([
  ["short", 1000],
  ["of many pieces", 900 * KiB],
])("an answer that is %s waits for 30 s for a client that takes nothing", (_, length) => {
  send("x".repeat(length));
  expect(unread.bytes).toBe(length);
  pass(29);
  expect(cut).toBe(0);
  pass(1);
  expect([cut, unread.bytes, response.destroyed]).toEqual([1, 0, true]);
});

test("a long answer goes on for as long as its client takes 16,000 bytes a second, and comes whole", async () => {
  const text = "é".repeat(450 * KiB);
  send(text);
  while (!response.writableFinished) {
    pass(3);
    await reader.accept();
  }
  expect(cut).toBe(0);
  expect(unread.bytes).toBe(0);
  expect(reader.received.subarray(reader.received.indexOf("\r\n\r\n") + 4).toString()).toBe(text);
});

test("a client that takes less is cut off", async () => {
  send("x".repeat(900 * KiB));
  for (let pieces = 0; pieces < 6; pieces++) {
    await reader.accept();
  }
  pass(30);
  expect(cut).toBe(0);
  pass(30);
  expect(cut).toBe(1);
});

test("the end of a stream waits for a minute", async () => {
  response.write("x".repeat(500));
  await reader.accept();
  response.end("y".repeat(2000));
  watchEnd(response, owner, unread);
  pass(59);
  expect(cut).toBe(0);
  pass(1);
  expect([cut, response.destroyed]).toEqual([1, true]);
});

test("nothing is watched that went out at once", async () => {
  response.end("done");
  await reader.accept();
  await reader.accept();
  watchEnd(response, owner, unread);
  expect([unread.bytes, clock.pending]).toEqual([0, 0]);
});

test("the rest of an answer whose response is over is watched until its client has taken it", async () => {
  const pieces = [Buffer.from("head"), Buffer.from("x".repeat(500))];
  sendRest(reader as unknown as Socket, pieces, "a", unread);
  expect(unread.bytes).toBe(504);
  await reader.accept();
  await reader.accept();
  expect([unread.bytes, reader.received.length]).toEqual([0, 504]);
  sendRest(reader as unknown as Socket, pieces, "a", unread);
  pass(59);
  expect(cut).toBe(0);
  pass(1);
  expect([cut, unread.bytes, reader.destroyed]).toEqual([1, 0, true]);
});
