import { once } from "node:events";
import { connect } from "node:http2";
import * as grpc from "@grpc/grpc-js";
import { expect, test } from "@jest/globals";
import { boundStreams } from "#src/wire/grpc/workarounds/unserved-streams.ts";

const bytes = (value: Buffer) => value;
const path = "/test/Take";
const method = {
  ...{ path, requestStream: false, responseStream: false },
  ...{ requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes, responseDeserialize: bytes },
} as const;

/** Calls a server, and tells what its interceptor saw and what it answered. */
async function call(asked: string, contentType: string, prepare: (server: grpc.Server) => void) {
  let seen = 0;
  const count: grpc.ServerInterceptor = (_, call) => {
    seen += 1;
    return call as grpc.ServerInterceptingCall;
  };
  const server = new grpc.Server({ interceptors: [count], "grpc.enable_channelz": 0 });
  prepare(server);
  server.addService(
    { take: method },
    { take: (_: unknown, done: grpc.sendUnaryData<Buffer>) => done(null, Buffer.of()) },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request({ ":method": "POST", ":path": asked, "content-type": contentType, te: "trailers" });
  stream.resume().end(Buffer.alloc(5));
  const [headers] = await once(stream, "response");
  await once(stream, "close");
  session.destroy();
  server.forceShutdown();
  return { seen, status: headers[":status"], code: headers["grpc-status"], id: headers["x-request-id"] };
}

const unserved: [string, string][] = [
  ["/test/Nothing", "application/grpc"],
  [path, "text/plain"],
];

test("an interceptor misses calls that nobody serves: once it does not, the workaround can go", async () => {
  for (const [asked, contentType] of unserved) {
    expect(await call(asked, contentType, () => {})).toMatchObject({ seen: 0 });
  }
});

test("with it they are heard of, and answered when it is said and under the id that is said", async () => {
  const heard: (string | undefined)[] = [];
  const prepare = (server: grpc.Server) =>
    boundStreams(server, {
      isServed: (asked) => asked === path,
      begin: (_, look) => look(),
      refuse(stream, { "content-type": type }, answer) {
        heard.push(`${stream.session?.socket.remoteAddress} ${type}`);
        answer(`req_${heard.length}`);
      },
    });
  const nothing = await call("/test/Nothing", "application/grpc", prepare);
  expect(nothing).toMatchObject({ status: 200, code: "12", id: "req_1" });
  expect(await call(path, "text/plain", prepare)).toMatchObject({ status: 415, id: "req_2" });
  expect(heard).toEqual(["127.0.0.1 application/grpc", "127.0.0.1 text/plain"]);
  expect(await call(path, "application/grpc", prepare)).toMatchObject({ seen: 1, status: 200 });
  expect(heard).toHaveLength(2);
});

test("every stream is looked at when it is said, and one that has gone by then is not", async () => {
  const begun: string[] = [];
  const looks: (() => void)[] = [];
  const prepare = (server: grpc.Server) =>
    boundStreams(server, {
      isServed: (asked) => asked === path,
      begin(stream, look) {
        begun.push(String(stream.sentHeaders?.[":status"]));
        looks.push(look);
        setImmediate(look);
      },
      refuse: (_, _headers, answer) => answer(""),
    });
  expect(await call(path, "application/grpc", prepare)).toMatchObject({ seen: 1, status: 200 });
  expect(begun).toEqual(["undefined"]);
  looks[0]?.(); // it is over
});
