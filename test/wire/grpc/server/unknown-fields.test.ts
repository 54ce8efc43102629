import { create, type Message, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { expect, test } from "@jest/globals";
import {
  type CountTokensRequest,
  CountTokensRequestSchema,
  type GenerateRequest,
  GenerateRequestSchema,
  InferenceService,
} from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { closing, connectDoor, gate, grpcDoor, right } from "./doors.ts";

test.each(
  [grpcDoor, connectDoor].flatMap((door) =>
    (["unary", "stream"] as const).map((kind) => [door.name, kind, door] as const),
  ),
)("over %s, %s, fields that nobody knows are read away, and take no memory", async (_name, kind, door) => {
  const received: Message[] = [];
  const service = registration(InferenceService, {
    countTokens(request: CountTokensRequest) {
      received.push(request);
      return {};
    },
    async *generate(request: GenerateRequest) {
      received.push(request);
      yield {};
    },
  });
  const server = await door.start({ address: "127.0.0.1:0", services: [service], interceptors: [], gate });
  closing.push(() => server.stop(0));
  const schema = kind === "unary" ? CountTokensRequestSchema : GenerateRequestSchema;
  const known = toBinary(schema, create(schema, { model: "m" }));
  const unknown = new BinaryWriter()
    .tag(1000, WireType.Varint)
    .int32(1)
    .tag(1001, WireType.LengthDelimited)
    .string("x");
  const call = door.call(server.address, kind, "proto", right);
  call.write(door.frame(kind, Buffer.concat([unknown.finish(), known])));
  call.end();
  expect(await call.outcome).toBe("ok");
  expect(received).toMatchObject([{ model: "m" }]);
  expect(received[0]?.$unknown).toBeUndefined();
});
