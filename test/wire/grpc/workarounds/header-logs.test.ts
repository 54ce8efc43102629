import { once } from "node:events";
import { connect, createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import * as grpc from "@grpc/grpc-js";
import { afterEach, expect, jest, test } from "@jest/globals";
import { applyWorkarounds } from "#src/compose/process/workarounds.ts";
import { keepHeadersOutOfLogs } from "#src/wire/grpc/workarounds/header-logs.ts";
import { grpcDoor, pathTo, start } from "../server/doors.ts";

const secret = "tg-0123456789abcdef";
/** What is easily copied with a key: a space that does not break. */
const copied = `Bearer ${secret}\u00a0`;

const written = jest.spyOn(console, "error").mockImplementation(() => {});
afterEach(() => {
  written.mockClear();
  keepHeadersOutOfLogs();
});

const lines = () => written.mock.calls.flat().join("\n");

/** Calls a served method with a key that no header of gRPC can carry. */
async function call(): Promise<string> {
  const { address } = await start(grpcDoor);
  const session = connect(`http://${address}`);
  try {
    const stream = session.request({
      ...{ ":method": "POST", ":path": pathTo("unary"), "content-type": "application/grpc", te: "trailers" },
      authorization: copied,
    });
    stream.resume().end();
    const [headers] = await once(stream, "response");
    return String(headers["grpc-status"]);
  } finally {
    session.destroy();
  }
}

/** Takes an answer, as from an engine, with a header that gRPC cannot carry. */
async function answer(options: grpc.ClientOptions = {}): Promise<number> {
  const server = createServer();
  server.on("stream", (stream: ServerHttp2Stream) =>
    stream.respond(
      { ":status": 200, "content-type": "application/grpc", "x-text": copied, "grpc-status": "5" },
      { endStream: true },
    ),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), options);
  const bytes = (value: Buffer) => value;
  try {
    return await new Promise((resolve) =>
      client.makeUnaryRequest("/test/Take", bytes, bytes, Buffer.of(), (error) => resolve(error?.code ?? 0)),
    );
  } finally {
    client.close();
    server.close();
  }
}

test("grpc-js alone logs headers that it cannot carry, so the workaround is still needed", async () => {
  grpc.setLogger(console);
  expect(await call()).toBe("16");
  expect(lines()).toContain(secret);
});

test("a key that no header can carry is refused, and written nowhere", async () => {
  applyWorkarounds();
  expect(await call()).toBe("16");
  expect(lines()).toBe("");
});

test("nor are the headers of an answer", async () => {
  applyWorkarounds();
  expect(await answer()).toBe(grpc.status.NOT_FOUND);
  expect(lines()).toBe("");
});

test("what else the library has to say is still said", async () => {
  applyWorkarounds();
  await answer({ "grpc.default_compression_algorithm": 99 as grpc.compressionAlgorithms });
  expect(lines()).toContain("grpc.default_compression_algorithm");
  expect(lines()).not.toContain(secret);
});
