import { once } from "node:events";
import { connect } from "node:http2";
import * as grpc from "@grpc/grpc-js";
import { expect, test } from "@jest/globals";
import { hasUnreadableDeadline } from "#src/wire/grpc/workarounds/deadlines.ts";
import { boundStreams } from "#src/wire/grpc/workarounds/unserved-streams.ts";
import { pause } from "../../../support/pause.ts";

const bytes = (value: Buffer) => value;
const path = "/test/Take";
const method = {
  ...{ path, requestStream: false, responseStream: false },
  ...{ requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes, responseDeserialize: bytes },
} as const;

/** Makes a call that takes a moment. Returns its status, its deadline, and whether that could not be read. */
async function call(timeout: string, prepare: (server: grpc.Server) => void) {
  let unreadable: boolean | undefined;
  let deadline: grpc.Deadline | undefined;
  const look: grpc.ServerInterceptor = (_, call) => {
    unreadable = hasUnreadableDeadline(call);
    return call as grpc.ServerInterceptingCall;
  };
  const server = new grpc.Server({ interceptors: [look], "grpc.enable_channelz": 0 });
  prepare(server);
  server.addService(
    { take: method },
    {
      async take(call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>) {
        deadline = call.getDeadline();
        await pause(20, "a deadline that is taken for none at all passes");
        done(null, Buffer.of());
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
    ...{ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" },
    "grpc-timeout": timeout,
  });
  let status: unknown;
  const read = (headers: Record<string, unknown>) => {
    status ??= headers["grpc-status"];
  };
  stream.on("response", read).on("trailers", read).resume().end(Buffer.alloc(5));
  await once(stream, "close");
  session.destroy();
  server.forceShutdown();
  return { status, deadline, unreadable };
}

const mended = (server: grpc.Server) =>
  boundStreams(server, { isServed: () => true, begin: (_, look) => look(), refuse: () => {} });

test("grpc-js alone ends a call of a long deadline at once and takes one that it cannot read for its own fault", async () => {
  expect(await call("720H", () => {})).toMatchObject({ status: String(grpc.status.DEADLINE_EXCEEDED) });
  expect(await call("x", () => {})).toMatchObject({ status: String(grpc.status.INTERNAL) });
});

test("with it the call has all its time, and it is known that its deadline cannot be read", async () => {
  expect(await call("720H", mended)).toEqual({ status: "0", deadline: Number.POSITIVE_INFINITY, unreadable: false });
  expect(await call("x", mended)).toEqual({ status: "0", deadline: Number.POSITIVE_INFINITY, unreadable: true });
});

test.each([
  ["1H", 3_600_000],
  ["1M", 60_000],
  ["2S", 2000],
  ["5000m", 5000],
  ["5000000u", 5000],
])("a deadline of %s is kept", async (timeout, ms) => {
  const before = Date.now();
  const { status, deadline } = await call(timeout, mended);
  expect(status).toBe("0");
  expect(Number(deadline)).toBeGreaterThanOrEqual(before + ms);
  expect(Number(deadline)).toBeLessThan(before + ms + 60_000);
});
