import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { startConnectServer } from "#src/wire/grpc/server/http/connect-server.ts";
import type { ListeningServer } from "#src/wire/grpc/server/listening-server.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { standstill } from "../../../../support/standstill.ts";
import { ScriptedService, texts, untilAborted } from "../../scripted-service.ts";

const servers: ListeningServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    await server.stop(0);
  }
});

async function start(service = new ScriptedService({})) {
  const catalogue = registration(CatalogueService, {
    listModels: () => ({ models: [{ id: "tiny" }] }),
    getModel() {
      throw failure(Reason.MODEL_NOT_FOUND, "There is no such model.", { parameter: "id" });
    },
  });
  const services = [registration(InferenceService, service), catalogue];
  const server = await startConnectServer({ address: "127.0.0.1:0", services, interceptors: [] });
  servers.push(server);
  return server;
}

function post({ address }: ListeningServer, path: string, body: string, type = "application/json") {
  return fetch(`http://${address}${path}`, { method: "POST", headers: { "content-type": type }, body });
}

describe("plain HTTP", () => {
  test("answers JSON with JSON", async () => {
    const response = await post(await start(), "/tollgate.catalogue.v1.CatalogueService/ListModels", "{}");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ models: [{ id: "tiny" }] });
  });

  test("gets errors with their details", async () => {
    const response = await post(await start(), "/tollgate.catalogue.v1.CatalogueService/GetModel", '{"model":"x"}');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      code: "not_found",
      message: "There is no such model.",
      details: [{ type: "tollgate.errors.v1.ErrorDetail" }, { type: "google.rpc.ErrorInfo" }],
    });
  });

  const path = "/tollgate.catalogue.v1.CatalogueService/ListModels";
  test.each([
    ["broken JSON", path, "{", "application/json", 400],
    ["another content type", path, "{}", "text/plain", 415],
    ["an unknown path", "/nowhere", "{}", "application/json", 404],
    ["a body over the cap", path, `{"id":"${"x".repeat(4 * 1024 * 1024)}"}`, "application/json", 429],
    ["gRPC", path, "", "application/grpc", 415],
  ])("is refused %s", async (_what, where, body, type, status) => {
    expect((await post(await start(), where, body, type)).status).toBe(status);
  });

  test.each(['{"id":"x"}', '{"model":"x","Model":"x"}'])("names a field that does not exist: %s", async (body) => {
    const response = await post(await start(), "/tollgate.catalogue.v1.CatalogueService/GetModel", body);
    expect(response.status).toBe(400);
    const { code, message } = (await response.json()) as { code: string; message: string };
    expect(code).toBe("invalid_argument");
    expect(message).toMatch(/"(id|Model)" is unknown/);
  });

  test("that is none does no harm", async () => {
    const server = await start();
    const port = Number(server.address.split(":")[1]);
    for (const head of ["POST http://[ HTTP/1.1\r\nHost: x", "POST /x HTTP/1.0", "POST // HTTP/1.1\r\nHost: ["]) {
      const socket = connect(port, "127.0.0.1").resume();
      socket.write(`${head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      await once(socket, "close");
    }
    expect((await post(server, path, "{}")).status).toBe(200);
  });
});

/** Begins a stream and leaves its answer unread. */
async function generate({ address }: ListeningServer): Promise<{ call: ClientRequest; response: IncomingMessage }> {
  const call = request(`http://${address}/tollgate.inference.v1.InferenceService/Generate`, {
    method: "POST",
    headers: { "content-type": "application/connect+json" },
  });
  call.on("error", () => {});
  call.end(Buffer.concat([Buffer.from([0, 0, 0, 0, 2]), Buffer.from("{}")]));
  const [response] = (await once(call, "response")) as [IncomingMessage];
  return { call, response };
}

describe("a stream", () => {
  test("waits for a slow reader in bounded memory, and ends when the reader leaves", async () => {
    const length = 1000;
    const word = "x".repeat(64 * 1024);
    const service = new ScriptedService({ generate: () => texts(Array.from({ length }, () => word)) });
    const { call } = await generate(await start(service));
    expect(await standstill("messages produced", () => service.produced)).toBeLessThan(length / 2);
    call.destroy();
    await service.finished;
    expect(service.produced).toBeLessThan(length / 2);
  });

  test("ends when its client leaves while nothing is sent", async () => {
    const service = new ScriptedService({
      async *generate(context) {
        yield* texts(["a"]);
        await untilAborted(context);
      },
    });
    const { call } = await generate(await start(service));
    call.destroy();
    await service.aborted;
    await service.finished;
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
    const server = await start(service);
    const { response } = await generate(server);
    const stopping = server.stop(60_000);
    await expect(post(server, "/tollgate.catalogue.v1.CatalogueService/ListModels", "{}")).rejects.toThrow();
    release.resolve();
    const body = (await response.setEncoding("utf8").toArray()).join("");
    expect(body).toContain('"text":"b"');
    await stopping;
  });

  test("does not wait for a connection over which nothing came", async () => {
    const server = await start();
    const socket = connect(Number(server.address.split(":")[1]), "127.0.0.1").resume();
    await once(socket, "connect");
    await post(server, "/tollgate.catalogue.v1.CatalogueService/ListModels", "{}"); // the server has seen the connection before
    await server.stop(60_000);
  });

  test("tells calls that outlast the grace to go elsewhere", async () => {
    const service = new ScriptedService({
      async *generate(context) {
        yield* texts(["a"]);
        await untilAborted(context);
      },
    });
    const server = await start(service);
    const { response } = await generate(server);
    const stopping = server.stop(0);
    const body = (await response.setEncoding("utf8").toArray()).join("");
    expect(body).toContain('"code":"unavailable"');
    await service.finished;
    await stopping;
  });
});

test("an address that is taken is named, and what to do", async () => {
  const { address } = await start();
  await expect(startConnectServer({ address, services: [], interceptors: [] })).rejects.toThrow(
    `Cannot listen on ${address}: another process already does. Stop that process, or set listen.connect to another`,
  );
});
