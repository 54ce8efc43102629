// usage: node count-slowly.ts mended|bare server|client
// A call that outlives the age of its connection while one side pings. Prints the numbers that came, or why they ended.
import { once } from "node:events";
import * as grpc from "@grpc/grpc-js";
import { answerPingsOfClosingSessions } from "#src/wire/grpc/workarounds/closing-sessions.ts";
import { pause } from "../../../support/pause.ts";

const [state, pinging] = process.argv.slice(2);
if (state === "mended") {
  answerPingsOfClosingSessions();
}

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

async function countSlowly(call: grpc.ServerWritableStream<Buffer, Buffer>): Promise<void> {
  for (let number = 1; number <= 20; number++) {
    call.write(Buffer.from([number]));
    await pause(50, "the call outlives its connection's age");
  }
  call.end();
}

const pings = { "grpc.keepalive_time_ms": 100, "grpc.keepalive_timeout_ms": 10_000 };
const server = new grpc.Server({ "grpc.max_connection_age_ms": 100, ...(pinging === "server" && pings) });
server.addService({ count: method }, { count: countSlowly });
const port = await new Promise<number>((resolve, reject) =>
  server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
    error ? reject(error) : resolve(bound),
  ),
);
const options = pinging === "client" ? pings : {};
const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), options);
const call = client.makeServerStreamRequest(method.path, bytes, bytes, Buffer.alloc(0));
const received: number[] = [];
call.on("data", (message: Buffer) => received.push(...message));
const error = await once(call, "end").then(
  () => undefined,
  (reason: grpc.ServiceError) => grpc.status[reason.code],
);
console.log(JSON.stringify(error === undefined ? received : error));
client.close();
server.forceShutdown();
