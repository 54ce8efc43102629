import { connect as connectTcp, createServer, type Server, type Socket } from "node:net";
import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import * as grpc from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "@jest/globals";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { listen } from "../../../lib/net/listen.ts";
import { batchBytes } from "../../../src/grpc/carried/limits.ts";
import { createChannelTransport } from "../../../src/grpc/client/channel-transport.ts";
import { servedMethods } from "../../../src/grpc/invoke.ts";
import type { ListeningServer } from "../../../src/grpc/server/listening-server.ts";
import { mountService } from "../../../src/grpc/server/mount-service.ts";
import { registration } from "../../../src/grpc/server/registration.ts";
import { startGrpcServer } from "../../../src/grpc/server/server.ts";
import { eventually } from "../../support/eventually.ts";
import { ScriptedService, texts, textsOf, untilAborted } from "../scripted-service.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

/** A core. */
async function serve(service: ScriptedService, address = "127.0.0.1:0"): Promise<ListeningServer> {
  const services = [registration(InferenceService, service)];
  const server = await startGrpcServer({ address, services, interceptors: [] });
  closing.push(() => server.stop(0));
  return server;
}

async function clientOf(target: string) {
  const transport = createChannelTransport({ target, carry: true });
  closing.push(() => transport.close());
  await transport.connect(5000);
  return createClient(InferenceService, transport);
}

/** A caller's connections, which a test counts and cuts. */
async function relayTo(address: string) {
  const sockets = new Set<Socket>();
  const [host = "", port] = address.split(":");
  const relay: Server = createServer((near) => {
    const far = connectTcp(Number(port), host);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          near.destroy();
          far.destroy();
        });
    }
  });
  const cut = () => {
    for (const socket of sockets) {
      socket.destroy();
    }
    sockets.clear();
  };
  closing.push(() => {
    cut();
    relay.close();
  });
  return { address: await listen(relay, "127.0.0.1:0", "relay"), cut };
}

const numbered = (number: number) => new ScriptedService({ countTokens: () => number });
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error) => ConnectError.from(error).code,
  );

test("calls that fill a batch in one turn end as any, wherever the batch is cut", async () => {
  const server = await serve(new ScriptedService({ countTokens: (_, model) => model.length }));
  const client = await clientOf(server.address);
  const filler = Math.floor(batchBytes / 3);
  // The cut moves over the beginning of the last call, whose headers take some hundred bytes.
  for (let room = 0; room < 1200; room += 30) {
    const lengths = [filler, filler, batchBytes - 2 * filler - room, 10];
    const answers = await Promise.all(lengths.map((length) => client.countTokens({ model: "m".repeat(length) })));
    expect(answers.map(({ inputTokens }) => Number(inputTokens))).toEqual(lengths);
  }
});

test.each([
  [70, 10],
  [70, 40_000],
  [12, 300_000],
  [4, 2_000_000],
])("a stream of %i messages of %i bytes comes whole", async (count, length) => {
  const sent = Array.from({ length: count }, (_, at) => String(at).padStart(length, "x"));
  const server = await serve(new ScriptedService({ generate: () => texts(sent) }));
  const client = await clientOf(server.address);
  const got: unknown[] = [];
  for await (const response of client.generate({ model: "m" })) {
    got.push(...textsOf(response));
  }
  expect(got.map(String).every((text, at) => text === sent[at])).toBe(true);
  expect(got).toHaveLength(count);
});

describe("several cores", () => {
  test("each get a stream, and calls go where the fewest are", async () => {
    const held = [0, 0, 0];
    let holds = false;
    const addresses: string[] = [];
    for (const at of held.keys()) {
      const service = new ScriptedService({
        countTokens(context) {
          if (!holds) {
            return at;
          }
          held[at] = (held[at] ?? 0) + 1;
          return untilAborted(context);
        },
      });
      addresses.push((await serve(service)).address);
    }
    const client = await clientOf(`ipv4:${addresses.join(",")}`);
    const answers = new Set<bigint>();
    // A call alone goes over the first stream: several at once show all streams that there are.
    const ask = async () => {
      const several = await Promise.all([1, 2, 3].map(() => client.countTokens({})));
      return several.map(({ inputTokens }) => answers.add(inputTokens));
    };
    await eventually("every core has a stream", async () => (await ask()) && answers.size === 3);
    holds = true;
    const cancel = new AbortController();
    const calls = Array.from({ length: 30 }, () => codeOf(client.countTokens({}, { signal: cancel.signal })));
    await eventually("all calls run", () => held.reduce((sum, count) => sum + count) === 30);
    expect(held).toEqual([10, 10, 10]);
    cancel.abort();
    expect(new Set(await Promise.all(calls))).toEqual(new Set([Code.Canceled]));
  });

  test("one that stops lets its calls finish, and the others get the new ones", async () => {
    const finish = Promise.withResolvers<void>();
    const first = new ScriptedService({
      countTokens: () => 1,
      async *generate() {
        yield* texts(["begun"]);
        await finish.promise;
        yield* texts(["done"]);
      },
    });
    const one = await serve(first);
    const client = await clientOf(`ipv4:${one.address}`);
    const stream = client.generate({})[Symbol.asyncIterator]();
    await stream.next();
    const stopped = one.stop(30_000);
    await eventually("no new calls are taken", async () => (await codeOf(client.countTokens({}))) === Code.Unavailable);
    finish.resolve();
    expect((await stream.next()).done).toBe(false);
    expect((await stream.next()).done).toBe(true);
    await stopped;
  });
});

describe("a stream that breaks", () => {
  test("fails its calls, stops their handlers, and is made again", async () => {
    const service = new ScriptedService({
      countTokens: () => 7,
      async *generate(context) {
        yield* texts(["begun"]);
        await untilAborted(context);
      },
    });
    const relay = await relayTo((await serve(service)).address);
    const client = await clientOf(`ipv4:${relay.address}`);
    const stream = client.generate({})[Symbol.asyncIterator]();
    await stream.next();
    relay.cut();
    expect(await codeOf(stream.next())).toBe(Code.Unavailable);
    await service.finished;
    await eventually("calls are answered again", async () => (await codeOf(client.countTokens({}))) === undefined);
  });

  test("is not made by a core of a version that carries no calls: they go by themselves", async () => {
    const server = new grpc.Server();
    mountService(server, servedMethods(registration(InferenceService, numbered(3)), []), new Set());
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    closing.push(() => server.forceShutdown());
    const client = await clientOf(`ipv4:127.0.0.1:${port}`);
    expect((await client.countTokens({})).inputTokens).toBe(3n);
  });
});

test("a long request goes by itself, beside those that are carried", async () => {
  const paths: string[] = [];
  const counted: Interceptor = (next) => (request) => {
    paths.push(String(request.header.get("x-size")));
    return next(request);
  };
  const services = [registration(InferenceService, new ScriptedService({ countTokens: (_, { length }) => length }))];
  const server = await startGrpcServer({ address: "127.0.0.1:0", services, interceptors: [counted] });
  closing.push(() => server.stop(0));
  const client = await clientOf(`ipv4:${server.address}`);
  for (const size of [1, 256 * 1024 - 100, 256 * 1024, 3 * 1024 * 1024]) {
    const { inputTokens } = await client.countTokens({ model: "x".repeat(size) }, { headers: { "x-size": `${size}` } });
    expect(inputTokens).toBe(BigInt(size));
  }
  expect(paths).toHaveLength(4);
});
