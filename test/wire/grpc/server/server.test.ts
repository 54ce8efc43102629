import { once } from "node:events";
import { connect } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { type ChannelTransport, createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import type { ListeningServer } from "#src/wire/grpc/server/listening-server.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { type GrpcServerOptions, startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { eventually } from "../../../support/eventually.ts";
import { pause } from "../../../support/pause.ts";
import { ScriptedService, texts, untilAborted } from "../scripted-service.ts";

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

async function start(service: ScriptedService, options: Partial<GrpcServerOptions> = {}) {
  const services = [registration(InferenceService, service)];
  const server = await startGrpcServer({ address: "127.0.0.1:0", services, interceptors: [], ...options });
  servers.push(server);
  const transport = createChannelTransport({ target: server.address });
  transports.push(transport);
  return { server, client: createClient(InferenceService, transport) };
}

describe("listening", () => {
  test.each(["127.0.0.1:0", "localhost:0"])("on %s tells the port that was picked", async (address) => {
    const { server, client } = await start(new ScriptedService({}), { address });
    expect(server.address).toMatch(/:[1-9]\d*$/);
    await client.countTokens({});
  });

  test("on an address that is taken says which one and what to do", async () => {
    const { server } = await start(new ScriptedService({}));
    const { address } = server;
    await expect(startGrpcServer({ address, services: [], interceptors: [] })).rejects.toThrow(
      `Cannot listen on ${address}: another process already does. Stop that process, or set listen.grpc to another`,
    );
  });

  test("on an address of another machine says so", async () => {
    const address = "192.0.2.1:50051";
    await expect(startGrpcServer({ address, services: [], interceptors: [] })).rejects.toThrow(
      `Cannot listen on ${address}: this machine has no such address.`,
    );
  });
});

describe("stopping", () => {
  test("waits for the calls under way and takes no new ones", async () => {
    const release = Promise.withResolvers<void>();
    const service = new ScriptedService({
      async *generate() {
        yield* texts(["a"]);
        await release.promise;
        yield* texts(["b"]);
      },
    });
    const { server, client } = await start(service);
    const stream = client.generate({})[Symbol.asyncIterator]();
    await stream.next();
    let stopped = false;
    const stopping = server.stop(60_000).then(() => {
      stopped = true;
    });
    const late = await startLate(server.address);
    expect(late.code).toBe(Code.Unavailable);
    expect(stopped).toBe(false);
    release.resolve();
    expect((await stream.next()).done).toBe(false);
    expect((await stream.next()).done).toBe(true);
    await stopping;
  });

  /** Calls a server over a new connection. */
  async function startLate(target: string): Promise<ConnectError> {
    const transport = createChannelTransport({ target });
    transports.push(transport);
    const call = createClient(InferenceService, transport).countTokens({});
    return ConnectError.from(await call.catch((error: unknown) => error));
  }

  test("does not wait for a connection over which nothing came", async () => {
    const { server, client } = await start(new ScriptedService({}));
    const socket = connect(Number(server.address.split(":")[1]), "127.0.0.1").resume();
    await once(socket, "connect");
    await client.countTokens({}); // the server has seen the connection before
    await server.stop(60_000);
  });

  test("tells calls that outlast the grace to go elsewhere", async () => {
    const service = new ScriptedService({
      async *generate(context) {
        yield* texts(["a"]);
        await untilAborted(context);
      },
    });
    const { server, client } = await start(service);
    const stream = client.generate({})[Symbol.asyncIterator]();
    await stream.next();
    const rest = stream.next().catch((error: unknown) => error);
    await server.stop(0);
    expect(readDetail(await rest)?.reason).toBe(Reason.SHUTTING_DOWN);
    expect((await rest) as ConnectError).toMatchObject({ code: Code.Unavailable });
    expect(readDetail(await service.aborted)?.reason).toBe(Reason.SHUTTING_DOWN);
  });

  test("cuts off a handler that does not listen", async () => {
    const service = new ScriptedService({ countTokens: () => new Promise<never>(() => {}) });
    const { server, client } = await start(service);
    const call = client.countTokens({}).catch((error: unknown) => error);
    await eventually("the handler runs", () => service.started > 0);
    await server.stop(0);
    expect(await call).toBeInstanceOf(ConnectError);
  });
});

test("a client that speaks something else does no harm", async () => {
  const { server, client } = await start(new ScriptedService({}));
  for (const words of ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\0\0\0", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\ngarbage"]) {
    const socket = connect(Number(server.address.split(":")[1]), "127.0.0.1").resume();
    await once(socket, "connect");
    socket.write(words);
    socket.resetAndDestroy();
    await once(socket, "close");
  }
  expect(await client.countTokens({})).toMatchObject({ inputTokens: 0n });
});

test("a bound on the age of connections breaks no call", async () => {
  const service = new ScriptedService({
    async *generate() {
      yield* texts(["a"]);
      await pause(300, "the call outlives its connection's age");
      yield* texts(["b"]);
    },
  });
  const { client } = await start(service, { maxConnectionAgeMs: 100 });
  let received = 0;
  for await (const _message of client.generate({})) {
    received += 1;
  }
  expect(received).toBe(2);
  await client.countTokens({});
});
