import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { create, createFileRegistry, type DescService } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { listen } from "#lib/net/listen.ts";
import { startConnectServer } from "#src/wire/grpc/server/http/connect-server.ts";
import type { ListeningServer } from "#src/wire/grpc/server/listening-server.ts";

const whole32 = ["INT32", "UINT32", "SINT32", "FIXED32", "SFIXED32"] as const;
const whole64 = ["INT64", "UINT64", "SINT64", "FIXED64", "SFIXED64"] as const;
const real = ["DOUBLE", "FLOAT"] as const;
const kinds = [...whole32, ...whole64, ...real];

/** A service whose messages have a field of every kind of number: alone, in a list, in a message of the same type. */
function everyKind(): DescService {
  const fields = kinds.map((kind, at) => ({ name: kind.toLowerCase(), number: at + 1, type: Type[kind] }));
  const file = {
    name: "every_kind.proto",
    package: "kinds",
    syntax: "proto3",
    messageType: [
      {
        name: "Numbers",
        field: [
          ...fields.map((field) => ({ ...field, jsonName: `${field.name}Json`, label: Label.OPTIONAL })),
          ...fields.map(({ name, number, type }) => ({
            ...{ name: `${name}_list`, jsonName: `${name}List` },
            ...{ number: number + 100, type, label: Label.REPEATED },
          })),
          {
            ...{ name: "inner", jsonName: "inner", number: 99, label: Label.OPTIONAL },
            ...{ type: Type.MESSAGE, typeName: ".kinds.Numbers" },
          },
        ],
      },
    ],
    service: [
      {
        name: "Kinds",
        method: [
          { name: "Say", inputType: ".kinds.Numbers", outputType: ".kinds.Numbers" },
          { name: "Stream", inputType: ".kinds.Numbers", outputType: ".kinds.Numbers", serverStreaming: true },
        ],
      },
    ],
  };
  const described = create(FileDescriptorProtoSchema, file as unknown as FileDescriptorProto);
  return createFileRegistry(described, () => undefined).getService("kinds.Kinds") as DescService;
}

const service = everyKind();
const implementation = {
  say: (request: unknown) => request,
  async *stream(request: unknown) {
    yield request;
  },
} as never;
const bare = createServer(connectNodeAdapter({ routes: (router) => void router.service(service, implementation) }));
let bareAddress: string;
let strict: ListeningServer;

beforeAll(async () => {
  bareAddress = await listen(bare, "127.0.0.1:0", "none");
  strict = await startConnectServer({
    ...{ address: "127.0.0.1:0", services: [{ service, implementation }], interceptors: [] },
  });
});
afterAll(async () => {
  bare.close();
  await strict.stop(0);
});

const post = (path: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string>) =>
  fetch(`http://${strict.address}/kinds.Kinds/${path}`, { method: "POST", headers, body });

async function say(value: unknown, address = strict.address) {
  const response = await fetch(`http://${address}/kinds.Kinds/Say`, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value) },
  });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

const loose = ["0x10", "0b1", "0o7", " 5", "5 ", "\t5", "5\n", "", "+5", ".5", "5.", "٣", "５", "5n", "1_000", "five"];
const looseWhole = [...loose, "1e3", "1.0", "5.0", "Infinity", "NaN", 1.5, `${"0".repeat(20)}5`];
const fieldNames = (names: readonly string[]) =>
  names.flatMap((name) => [name.toLowerCase(), `${name.toLowerCase()}Json`]);

test("the library alone takes them, so the workaround is still needed", async () => {
  expect(await say({ int32: "0x10", double: "0x10", int64: " 5" }, bareAddress)).toEqual({
    status: 200,
    answer: { int32Json: 16, doubleJson: 16, int64Json: "5" },
  });
});

describe("a number in JSON", () => {
  test.each(looseWhole)("%j is refused for every kind of integer", async (value) => {
    for (const name of fieldNames([...whole32, ...whole64])) {
      for (const body of [{ [name]: value }, { inner: { inner: { [name]: value } } }]) {
        expect([body, await say(body)]).toMatchObject([{}, { status: 400, answer: { code: "invalid_argument" } }]);
      }
    }
  });

  test.each(loose)("%j is refused for real numbers", async (value) => {
    for (const name of fieldNames(real)) {
      expect([name, await say({ [name]: value })]).toMatchObject([name, { status: 400 }]);
    }
  });

  test("in a list is held to the same", async () => {
    for (const kind of kinds) {
      const name = `${kind.toLowerCase()}List`;
      expect([name, await say({ [name]: [1, "0x10"] })]).toMatchObject([name, { status: 400 }]);
      expect([name, await say({ [name]: [1, "16"] })]).toMatchObject([name, { status: 200 }]);
    }
  });

  test("in a stream's or a compressed message is held to the same", async () => {
    const text = JSON.stringify({ uint32: "0x10" });
    const head = Buffer.alloc(5);
    head.writeUInt32BE(text.length, 1);
    const stream = await post("Stream", Buffer.concat([head, Buffer.from(text)]), {
      "content-type": "application/connect+json",
    });
    expect(await stream.text()).toContain('"invalid_argument"');
    const json = { "content-type": "application/json", "content-encoding": "gzip" };
    expect((await post("Say", Buffer.from(gzipSync(text)), json)).status).toBe(400);
  });

  test("that nests deeper than messages may is refused, and the next request is answered", async () => {
    const deep = `${'{"inner":'.repeat(20_000)}{}${"}".repeat(20_000)}`;
    expect((await post("Say", deep, { "content-type": "application/json" })).status).toBe(400);
    expect((await say({ int32: 5 })).status).toBe(200);
  });

  test("plain decimal numbers are taken, as numbers and as texts", async () => {
    for (const kind of kinds) {
      for (const value of [5, "5", ...(kind.startsWith("U") || kind.startsWith("F") ? [] : [-5, "-5"])]) {
        const { status, answer } = await say({ [kind.toLowerCase()]: value });
        expect([kind, value, status, Number(answer[`${kind.toLowerCase()}Json`])]).toEqual([
          kind,
          value,
          200,
          Number(value),
        ]);
      }
    }
    expect((await say({ int64: "9007199254740993" })).answer).toEqual({ int64Json: "9007199254740993" });
    expect((await say({ double: "1.5e-3", float: "-Infinity" })).answer).toEqual({
      doubleJson: 0.0015,
      floatJson: "-Infinity",
    });
  });
});
