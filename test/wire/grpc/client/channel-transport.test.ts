import { Code, type ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import * as grpc from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import {
  type ChannelTransport,
  type ChannelTransportOptions,
  createChannelTransport,
} from "#src/wire/grpc/client/channel-transport.ts";
import type { ListeningServer } from "#src/wire/grpc/server/listening-server.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { eventually } from "../../../support/eventually.ts";
import { ScriptedService, texts, textsOf } from "../scripted-service.ts";

const servers: ListeningServer[] = [];
const transports: ChannelTransport[] = [];
afterEach(async () => {
  for (const transport of transports.splice(0)) {
    transport.close();
  }
  for (const server of servers.splice(0)) {
    await server.stop(0);
  }
});

async function serve(service: ScriptedService, address = "127.0.0.1:0"): Promise<ListeningServer> {
  const services = [registration(InferenceService, service)];
  const server = await startGrpcServer({ address, services, interceptors: [] });
  servers.push(server);
  return server;
}

function clientOf(options: ChannelTransportOptions) {
  const transport = createChannelTransport(options);
  transports.push(transport);
  return { transport, client: createClient(InferenceService, transport) };
}

describe("load balancing", () => {
  const numbered = (number: number) => new ScriptedService({ countTokens: () => number });

  test("goes round all addresses that answer", async () => {
    const [one, two] = [await serve(numbered(1)), await serve(numbered(2))];
    const { client } = clientOf({ target: `ipv4:${one.address},${two.address}` });
    const answers = new Set<number>();
    await eventually(
      "a call is answered as wished",
      async () => answers.add(Number((await client.countTokens({})).inputTokens)).size === 2,
    );

    const counts = new Map<number, number>();
    for (let call = 0; call < 20; call += 1) {
      const inputTokens = Number((await client.countTokens({})).inputTokens);
      counts.set(inputTokens, (counts.get(inputTokens) ?? 0) + 1);
    }
    expect(Object.fromEntries(counts)).toEqual({ 1: 10, 2: 10 });
  });

  test("leaves a dead address out and takes it back when it answers again", async () => {
    const [one, two] = [await serve(numbered(1)), await serve(numbered(2))];
    const { client } = clientOf({ target: `ipv4:${one.address},${two.address}` });
    const both = new Set<bigint>();
    const answer = async () => (await client.countTokens({})).inputTokens;
    await eventually("both answer", async () => both.add(await answer()).size === 2);
    await one.stop(0);
    for (let call = 0; call < 10; call += 1) {
      expect(await answer()).toBe(2n);
    }
    await serve(numbered(3), one.address);
    await eventually("the address answers again", async () => (await answer()) === 3n);
  });

  test("takes every address of a name", async () => {
    const server = await serve(numbered(1));
    const { client } = clientOf({ target: `dns:///localhost:${server.address.split(":")[1]}` });
    expect((await client.countTokens({})).inputTokens).toBe(1n);
  });
});

test("nobody at the address is UNAVAILABLE", async () => {
  const server = await serve(new ScriptedService({}));
  await server.stop(0);
  const { client } = clientOf({ target: server.address });
  const error = await client.countTokens({}).catch((reason: unknown) => reason);
  expect((error as ConnectError).code).toBe(Code.Unavailable);
});

test("the caller's interceptors run around the call", async () => {
  const seen: (string | null)[] = [];
  const server = await serve(
    new ScriptedService({
      countTokens({ requestHeader }) {
        seen.push(requestHeader.get("authorization"));
        return 1;
      },
      generate({ requestHeader }) {
        seen.push(requestHeader.get("authorization"));
        return texts([]);
      },
    }),
  );
  const withToken: Interceptor = (next) => (request) => {
    request.header.set("authorization", "Bearer token");
    return next(request);
  };
  const { client } = clientOf({ target: server.address, interceptors: [withToken] });
  await client.countTokens({});
  for await (const _message of client.generate({})) {
  }
  expect(seen).toEqual(["Bearer token", "Bearer token"]);
});

test("a credential that gRPC cannot carry arrives as another one that is as wrong", async () => {
  const seen: (string | null)[] = [];
  const server = await serve(
    new ScriptedService({
      countTokens({ requestHeader }) {
        seen.push(requestHeader.get("authorization"));
        return 1;
      },
    }),
  );
  const { client } = clientOf({ target: server.address });
  await client.countTokens({}, { headers: { authorization: "Bearer schlüssel" } });
  expect(seen).toEqual(["Bearer schl?ssel"]);
});

test("a response that is no message of the contract is an error", async () => {
  const server = new grpc.Server();
  const raw = (bytes: Buffer) => bytes;
  const method = { requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw };
  const { countTokens, generate } = InferenceService.method;
  const path = ({ name }: { name: string }) => `/${InferenceService.typeName}/${name}`;
  const garbage = Buffer.from([255, 255, 255]);
  server.addService(
    {
      countTokens: { ...method, path: path(countTokens), requestStream: false, responseStream: false },
      generate: { ...method, path: path(generate), requestStream: false, responseStream: true },
    },
    {
      countTokens: (_call: unknown, done: grpc.sendUnaryData<Buffer>) => done(null, garbage),
      generate: (call: grpc.ServerWritableStream<Buffer, Buffer>) => {
        call.write(garbage);
        call.end();
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  const { client } = clientOf({ target: `127.0.0.1:${port}` });
  const unary = await client.countTokens({}).catch((reason: unknown) => reason);
  expect(unary).toMatchObject({ code: Code.Internal, rawMessage: "a response message cannot be read" });
  const streamed = await client
    .generate({})
    [Symbol.asyncIterator]()
    .next()
    .catch((reason: unknown) => reason);
  expect(streamed).toMatchObject({ code: Code.Internal, rawMessage: "a response message cannot be read" });
  server.forceShutdown();
});

describe("closing", () => {
  test("lets the calls under way finish and refuses new ones", async () => {
    const release = Promise.withResolvers<void>();
    const server = await serve(
      new ScriptedService({
        async *generate() {
          yield* texts(["a"]);
          await release.promise;
          yield* texts(["b"]);
        },
      }),
    );
    const { client, transport } = clientOf({ target: server.address });
    const stream = client.generate({})[Symbol.asyncIterator]();
    await stream.next();
    transport.close();
    const refused = await client.countTokens({}).catch((reason: unknown) => reason);
    expect(refused).toMatchObject({ code: Code.Unavailable, rawMessage: "the transport is closed" });
    release.resolve();
    const { value } = await stream.next();
    expect(textsOf(value)).toEqual(["b"]);
  });
});

test("a request that is larger than a core takes is refused before it is sent, and the connection goes on", async () => {
  const { address } = await serve(new ScriptedService({ countTokens: () => 3 }));
  const { client } = clientOf({ target: address });
  const text = "x".repeat(4 * 1024 * 1024);
  const generated = client
    .generate({ prompt: { case: "text", value: text } })
    [Symbol.asyncIterator]()
    .next();
  for (const call of [client.countTokens({ model: text }), generated]) {
    const refusal = await call.catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: Code.ResourceExhausted });
    expect(readDetail(refusal)).toMatchObject({ reason: Reason.REQUEST_TOO_LARGE });
  }
  expect((await client.countTokens({})).inputTokens).toBe(3n);
});
