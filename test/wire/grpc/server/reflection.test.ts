import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { create, createFileRegistry, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createWritableIterable } from "@connectrpc/connect/protocol";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  ServerReflection,
  type ServerReflectionRequestSchema,
  type ServerReflectionResponse,
} from "#gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "#gen/grpc/reflection/v1alpha/reflection_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { type ChannelTransport, createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { createHealth } from "#src/wire/grpc/server/health.ts";
import type { ListeningServer } from "#src/wire/grpc/server/listening-server.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { texts } from "../scripted-service.ts";

type Question = NonNullable<MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]>;

let server: ListeningServer;
let transport: ChannelTransport;
beforeAll(async () => {
  const services = [
    registration(InferenceService, { generate: () => texts(["hello ", "there"]) }),
    registration(CatalogueService, { listModels: () => ({ models: [{ id: "tiny" }] }) }),
  ];
  const health = createHealth(services);
  server = await startGrpcServer({
    address: "127.0.0.1:0",
    services: [...services, health.registration],
    interceptors: [],
  });
  transport = createChannelTransport({ target: server.address });
});
afterAll(async () => {
  transport.close();
  await server.stop(0);
});

const served = [
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
  "tollgate.catalogue.v1.CatalogueService",
  "tollgate.inference.v1.InferenceService",
];

describe.each([
  ["v1", ServerReflection],
  ["v1alpha", ServerReflectionAlpha as unknown as typeof ServerReflection],
])("reflection %s", (_version, service) => {
  /** Asks all questions over one stream, each after the answer to the one before. */
  async function ask(...questions: Question[]) {
    const requests = createWritableIterable<MessageInitShape<typeof ServerReflectionRequestSchema>>();
    const responses = createClient(service, transport).serverReflectionInfo(requests)[Symbol.asyncIterator]();
    const answers: ServerReflectionResponse["messageResponse"][] = [];
    for (const messageRequest of questions) {
      void requests.write({ host: "here", messageRequest });
      const { value } = await responses.next();
      expect(value).toMatchObject({ validHost: "here", originalRequest: { messageRequest } });
      answers.push(value.messageResponse);
    }
    requests.close();
    expect(await responses.next()).toMatchObject({ done: true });
    return answers;
  }

  function fileNames(answer: ServerReflectionResponse["messageResponse"]): string[] {
    if (answer.case !== "fileDescriptorResponse") {
      throw new Error(`not files: ${JSON.stringify(answer)}`);
    }
    return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name);
  }

  test("lists the services", async () => {
    const [answer] = await ask({ case: "listServices", value: "*" });
    if (answer?.case !== "listServicesResponse") {
      throw new Error("no list");
    }
    expect(answer.value.service.map(({ name }) => name).sort()).toEqual(served);
  });

  test.each([
    ["a service", "tollgate.inference.v1.InferenceService", "tollgate/inference/v1/inference_service.proto"],
    ["a method", "tollgate.inference.v1.InferenceService.Generate", "tollgate/inference/v1/inference_service.proto"],
    ["a message", "tollgate.inference.v1.Conversation", "tollgate/inference/v1/conversation.proto"],
    ["a nested enum", "grpc.health.v1.HealthCheckResponse.ServingStatus", "grpc/health/v1/health.proto"],
    ["a well-known type", "google.protobuf.Timestamp", "google/protobuf/timestamp.proto"],
    ["itself", "grpc.reflection.v1alpha.ServerReflection", "grpc/reflection/v1alpha/reflection.proto"],
  ])("finds the file of %s", async (_what, symbol, file) => {
    const [bySymbol, byName] = await ask(
      { case: "fileContainingSymbol", value: symbol },
      { case: "fileByFilename", value: file },
    );
    if (!bySymbol || !byName) {
      throw new Error("no answer");
    }
    expect(fileNames(bySymbol)[0]).toBe(file);
    expect(byName).toEqual(bySymbol);
  });

  test("gives all that is needed to call a service", async () => {
    const [answer] = await ask({ case: "fileContainingSymbol", value: "tollgate.inference.v1.InferenceService" });
    if (answer?.case !== "fileDescriptorResponse") {
      throw new Error("no files");
    }
    const file = answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: file.reverse() }));
    const found = registry.getService("tollgate.inference.v1.InferenceService");
    expect(found?.methods.map(({ name }) => name)).toEqual(["Generate", "CountTokens"]);
  });

  test("knows extensions", async () => {
    const extended = "google.protobuf.MethodOptions";
    const [numbers, file] = await ask(
      { case: "allExtensionNumbersOfType", value: extended },
      { case: "fileContainingExtension", value: { containingType: extended, extensionNumber: 51010 } },
    );
    expect(numbers?.value).toMatchObject({
      baseTypeName: extended,
      extensionNumber: [51010, 51011, 51016, 51017, 51012],
    });
    if (!file) {
      throw new Error("no answer");
    }
    expect(fileNames(file)[0]).toBe("tollgate/access/v1/access.proto");
  });

  test("says what it does not know and goes on", async () => {
    const answers = await ask(
      { case: "fileContainingSymbol", value: "no.such.Symbol" },
      { case: "fileContainingSymbol", value: "tollgate.inference.v1.InferenceService.NoSuchMethod" },
      { case: "fileByFilename", value: "no/such.proto" },
      {
        case: "fileContainingExtension",
        value: { containingType: "tollgate.inference.v1.Message", extensionNumber: 1 },
      },
      { case: "allExtensionNumbersOfType", value: "no.such.Message" },
      { case: undefined },
    );
    expect(answers.map(({ case: kind }) => kind)).toEqual(Array(6).fill("errorResponse"));
  });
});

describe("buf curl", () => {
  const run = promisify(execFile);
  const curl = (...args: string[]) =>
    run("node_modules/.bin/buf", ["curl", "--http2-prior-knowledge", "--protocol", "grpc", ...args]);

  test("lists services and methods", async () => {
    const services = await curl("--list-services", `http://${server.address}`);
    expect(services.stdout.trim().split("\n").sort()).toEqual(served);
    const methods = await curl("--list-methods", `http://${server.address}`);
    expect(methods.stdout).toContain("tollgate.inference.v1.InferenceService/Generate");
  });

  test("calls methods without a copy of the contract", async () => {
    const unary = await curl("-d", "{}", `http://${server.address}/tollgate.catalogue.v1.CatalogueService/ListModels`);
    expect(JSON.parse(unary.stdout)).toEqual({ models: [{ id: "tiny" }] });
    const stream = await curl(
      "-d",
      '{"text":"hi"}',
      `http://${server.address}/tollgate.inference.v1.InferenceService/Generate`,
    );
    expect(stream.stdout).toContain("there");
  });
});
