import { once } from "node:events";
import { connect } from "node:http2";
import * as grpc from "@grpc/grpc-js";
import { expect, test } from "@jest/globals";
import { closeRequest, readInPieces } from "#src/wire/grpc/workarounds/server-call.ts";

const bytes = (value: Buffer) => value;
const method = {
  path: "/test/Take",
  requestStream: false,
  responseStream: false,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
} as const;

/** Has a call refused while its client goes on sending. Resolves with whether the server ended the stream by then. */
async function refuse(close: (call: grpc.ServerInterceptingCallInterface) => void): Promise<boolean> {
  const refusing: grpc.ServerInterceptor = (_, call) => {
    call.start({
      onReceiveMetadata: () => {
        call.sendStatus({ code: grpc.status.PERMISSION_DENIED, details: "no", metadata: null });
        close(call);
      },
      onReceiveMessage: () => {},
      onReceiveHalfClose: () => {},
      onCancel: () => {},
    });
    return call as grpc.ServerInterceptingCall;
  };
  const server = new grpc.Server({ interceptors: [refusing] });
  server.addService({ take: method }, { take: () => {} });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request(
    { ":method": "POST", ":path": method.path, "content-type": "application/grpc", te: "trailers" },
    { endStream: false },
  );
  stream.on("error", () => {});
  const closed = once(stream, "close").then(() => true);
  await once(stream.resume(), "end"); // the answer is complete
  // What the server does at once comes before the answers to these.
  for (let turn = 0; turn < 3; turn++) {
    await new Promise<void>((resolve) => session.ping(() => resolve()));
  }
  const isClosed = await Promise.race([closed, new Promise<false>((resolve) => setImmediate(resolve, false))]);
  session.destroy();
  server.forceShutdown();
  return isClosed;
}

test("a stream whose answer is complete ends", async () => {
  expect(await refuse(closeRequest)).toBe(true);
});

test("grpc-js alone keeps it open, so the workaround is still needed", async () => {
  expect(await refuse(() => {})).toBe(false);
});

/** How many of a stream's messages, which come at once, are decoded when its handler has the first one; and all that it gets. */
async function readStream(messages: readonly Buffer[], prepare: (call: grpc.ServerInterceptingCallInterface) => void) {
  let decoded = 0;
  const decodedAt: number[] = [];
  const received: string[] = [];
  const server = new grpc.Server({
    interceptors: [
      (_, call) => {
        prepare(call);
        return call as grpc.ServerInterceptingCall;
      },
    ],
  });
  const requestDeserialize = (message: Buffer) => {
    decoded += 1;
    return message;
  };
  server.addService(
    { take: { ...method, requestStream: true, responseStream: true, requestDeserialize } },
    {
      async take(call: grpc.ServerDuplexStream<Buffer, Buffer>) {
        for await (const message of call.iterator({ destroyOnReturn: false })) {
          decodedAt.push(decoded);
          received.push(String(message));
        }
        call.end();
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request({
    ...{ ":method": "POST", ":path": method.path, "content-type": "application/grpc", te: "trailers" },
  });
  stream.resume().end(Buffer.concat(messages.flatMap((message) => [toHead(message.length), message])));
  await once(stream, "close");
  session.destroy();
  server.forceShutdown();
  return { first: decodedAt[0] ?? 0, received };
}

function toHead(length: number): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length, 1);
  return head;
}

const short = Array.from({ length: 1000 }, (_, at) => Buffer.from(String(at)));

test("all messages that come at once are decoded at once: once they are not, reading in pieces can go", async () => {
  const { first, received } = await readStream(short, () => {});
  expect(received).toEqual(short.map(String));
  expect(first).toBeGreaterThan(500);
});

test("a stream that is read in pieces has few decoded before they are asked for, and loses none, long or short", async () => {
  const mixed = [...short, Buffer.from("x".repeat(100_000)), ...short, Buffer.of(), Buffer.from("end")];
  const { first, received } = await readStream(mixed, readInPieces);
  expect(first).toBeLessThan(60);
  expect(received).toEqual(mixed.map(String));
});
