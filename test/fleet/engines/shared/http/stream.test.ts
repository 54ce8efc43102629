import type { Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { systemClock } from "#lib/time/clock.ts";
import type { EngineOutput } from "#src/fleet/engines/interface.ts";
import { textEvent } from "#src/fleet/engines/shared/answer/events.ts";
import { HttpConnection } from "#src/fleet/engines/shared/http/connection.ts";
import { openStream, type StreamReader } from "#src/fleet/engines/shared/http/stream.ts";
import { eventually } from "../../../../support/eventually.ts";
import { hello, RawServer } from "./client/raw-server.ts";

// Streams over a real socket, whose packets a test writes one by one.

/** More events than may wait for a slow reader. */
const many = 300;

/** Makes an event of each letter of a body that ends with a period. */
class LetterReader implements StreamReader {
  complete = false;
  #events: GenerationEvent[] = [];

  push(piece: Buffer): void {
    const text = piece.toString();
    this.#events.push(...[...text].map(textEvent));
    this.complete = text.endsWith(".");
  }

  take(): EngineOutput | undefined {
    const events = this.#events;
    this.#events = [];
    return events.length === 0 ? undefined : { events };
  }

  end(): void {}

  refusal(): Error {
    return new Error("refused");
  }
}

const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

let server: RawServer;
let connection: HttpConnection;

beforeEach(async () => {
  server = new RawServer();
  const options = { connections: 1, clock: systemClock, connectTimeoutMs: 5000, silenceTimeoutMs: 60_000 };
  connection = new HttpConnection(await server.listen(), options);
});
afterEach(async () => {
  server.close();
  await connection.close();
});

test.each([
  ["leaves before it takes all", false],
  ["takes all", true],
])("the connection of an answer that is complete serves on, when a slow reader %s", async (_, readsOn) => {
  const streams: Socket[] = [];
  server.answer = (socket) => {
    streams.push(socket);
    socket.write(head + chunk("a"));
  };
  const reader = new LetterReader();
  const outputs = openStream(connection, { path: "/stream" }, reader, new AbortController().signal);
  await outputs.next();
  streams[0]?.write(chunk(`${"b".repeat(many)}.`));
  await eventually("the answer is complete", () => reader.complete);
  if (readsOn) {
    expect((await outputs.next()).value?.events).toHaveLength(many + 1);
    expect((await outputs.next()).done).toBe(true);
  } else {
    await outputs.return?.();
  }
  streams[0]?.write(chunk(""));
  server.answer = (socket) => socket.write(hello);
  const { text } = await connection.send({ path: "/next" }, AbortSignal.timeout(5000));
  expect(text).toBe("hello");
  expect(server.sockets).toHaveLength(1);
});
