import { once } from "node:events";
import { connect } from "node:http2";
import * as grpc from "@grpc/grpc-js";
import { expect, test } from "@jest/globals";
import { closeRequest } from "#src/wire/grpc/workarounds/server-call.ts";

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
