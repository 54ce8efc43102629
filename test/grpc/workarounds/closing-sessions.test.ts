import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import * as grpc from "@grpc/grpc-js";
import { expect, test } from "@jest/globals";
import "../../../src/grpc/workarounds/closing-sessions.ts";

const bytes = (value: Buffer) => value;
const method = {
  path: "/test/Count",
  requestStream: false,
  responseStream: true,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
} as const;
const count = 20;

async function countSlowly(call: grpc.ServerWritableStream<Buffer, Buffer>): Promise<void> {
  for (let number = 1; number <= count; number++) {
    call.write(Buffer.from([number]));
    await sleep(50);
  }
  call.end();
}

const pings = { "grpc.keepalive_time_ms": 100, "grpc.keepalive_timeout_ms": 10_000 };

test.each([
  ["the server", pings, {}],
  ["the client", {}, pings],
])("a call outlives the age of its connection while %s pings", async (_, onServer, onClient) => {
  const server = new grpc.Server({ "grpc.max_connection_age_ms": 100, ...onServer });
  server.addService({ count: method }, { count: countSlowly });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), onClient);
  try {
    const call = client.makeServerStreamRequest(method.path, bytes, bytes, Buffer.alloc(0));
    const received: number[] = [];
    call.on("data", (message: Buffer) => received.push(...message));
    await once(call, "end"); // rejects with what the call failed with
    expect(received).toEqual(Array.from({ length: count }, (_, at) => at + 1));
  } finally {
    client.close();
    server.forceShutdown();
  }
});
