import { createRegistry, type DescFile, type MessageInitShape, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "#gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "#gen/grpc/reflection/v1alpha/reflection_pb.js";
import type { Door } from "#lib/door/door.ts";
import { peerKey } from "./peer.ts";
import { registration, type ServiceRegistration } from "./registration.ts";

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

/**
 * The standard gRPC reflection services, in both versions, for the given services and themselves. A stream asks as often as
 * it likes, without a key: each answer has a turn of its client's network.
 */
export function createReflection(services: readonly ServiceRegistration[], door: Door): ServiceRegistration[] {
  const described = [...services.map(({ service }) => service), ServerReflection, ServerReflectionAlpha];
  const schema = createSchema(described.map(({ file }) => file));
  const names = described.map(({ typeName }) => ({ name: typeName }));
  const implementation: Partial<ServiceImpl<typeof ServerReflection>> = {
    async *serverReflectionInfo(requests, { values }) {
      for await (const request of requests) {
        await turnOf(values.get(peerKey) ?? "", door);
        yield { validHost: request.host, originalRequest: request, messageResponse: answer(schema, names, request) };
      }
    },
  };
  return [
    registration(ServerReflection, implementation),
    // The same messages under another name.
    { service: ServerReflectionAlpha, implementation: implementation as ServiceRegistration["implementation"] },
  ];
}

/** Resolves when a client has its turn. */
async function turnOf(client: string, door: Door): Promise<void> {
  const waitMs = door.uncounted.take(client, 1);
  if (waitMs > 0) {
    door.refused("uncounted");
    await new Promise<void>((resolve) => door.clock.after(waitMs, resolve));
  } else {
    await new Promise<void>((resolve) => door.begins(() => client, resolve, true));
  }
}

/** Every file that the services depend on, and a registry of what the files declare. */
interface Schema {
  readonly files: ReadonlyMap<string, DescFile>;
  readonly registry: Registry;
}

function createSchema(roots: readonly DescFile[]): Schema {
  const files = new Map<string, DescFile>();
  const visit = (file: DescFile) => {
    if (files.has(file.proto.name)) {
      return;
    }
    files.set(file.proto.name, file);
    file.dependencies.forEach(visit);
  };
  roots.forEach(visit);
  return { files, registry: createRegistry(...files.values()) };
}

function answer(
  schema: Schema,
  services: { name: string }[],
  { messageRequest: question }: ServerReflectionRequest,
): Answer {
  switch (question.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: services } };
    case "fileByFilename":
      return fileAnswer(schema.files.get(question.value), question.value);
    case "fileContainingSymbol":
      return fileAnswer(fileOfSymbol(schema, question.value), question.value);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      const extension = listExtensions(schema, containingType).find(({ number }) => number === extensionNumber);
      return fileAnswer(extension?.file, `${containingType} extension ${extensionNumber}`);
    }
    case "allExtensionNumbersOfType": {
      const baseTypeName = question.value;
      if (!schema.registry.getMessage(baseTypeName)) {
        return notFound(baseTypeName);
      }
      const extensionNumber = listExtensions(schema, baseTypeName).map(({ number }) => number);
      return { case: "allExtensionNumbersResponse", value: { baseTypeName, extensionNumber } };
    }
    case undefined:
      return errorAnswer(Code.InvalidArgument, "the request asks nothing");
  }
}

function fileOfSymbol({ registry }: Schema, symbol: string): DescFile | undefined {
  const declared = registry.get(symbol);
  if (declared) {
    return declared.file;
  }
  const dot = symbol.lastIndexOf(".");
  const service = registry.getService(symbol.slice(0, Math.max(dot, 0)));
  return service?.methods.some(({ name }) => name === symbol.slice(dot + 1)) ? service.file : undefined;
}

function listExtensions({ registry }: Schema, typeName: string) {
  return [...registry]
    .filter((type) => type.kind === "extension")
    .filter(({ extendee }) => extendee.typeName === typeName);
}

function fileAnswer(file: DescFile | undefined, asked: string): Answer {
  if (!file) {
    return notFound(asked);
  }
  const fileDescriptorProto = withImports(file).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

/** The file and all of its imports. Each comes before its own imports, so that they can be loaded in reverse order. */
function withImports(file: DescFile): DescFile[] {
  const seen = new Set<DescFile>();
  const loadable: DescFile[] = [];
  const visit = (next: DescFile) => {
    if (seen.has(next)) {
      return;
    }
    seen.add(next);
    next.dependencies.forEach(visit);
    loadable.push(next);
  };
  visit(file);
  return loadable.reverse();
}

function notFound(asked: string): Answer {
  return errorAnswer(Code.NotFound, `${asked} is not known here`);
}

function errorAnswer(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
