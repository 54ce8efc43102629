import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import { CarryRequestSchema, type FrameSchema } from "#gen/tollgate/calls/v1/calls_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { UnreadAnswers } from "../../../lib/net/unread-answers.ts";
import { decodeBatch, type Frame, parts, readPart, schemas } from "../../../src/grpc/carried/frames.ts";
import { registration } from "../../../src/grpc/server/registration.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { standstill } from "../../support/standstill.ts";
import { ScriptedService, texts, untilAborted } from "../scripted-service.ts";
import { closing, grpcDoor, pathTo, right, start, wrong } from "../server/doors.ts";

// What a caller that means harm can do with a stream that carries calls.

type Sent = MessageInitShape<typeof FrameSchema>;

/** A stream that a test writes frame by frame. */
function openCarry(address: string) {
  const client = new grpc.Client(address, grpc.credentials.createInsecure());
  const same = (bytes: Buffer) => bytes;
  const metadata = grpc.Metadata.fromHttp2Headers(right); // the gate of these tests knows no public method
  const stream = client.makeBidiStreamRequest("/tollgate.calls.v1.CallsService/Carry", same, same, metadata);
  const frames: Frame[] = [];
  let answers = 0;
  stream.on("data", (bytes: Buffer) => {
    answers += 1;
    frames.push(...decodeBatch(bytes).frames);
  });
  const ended = new Promise<grpc.status>((resolve) => {
    stream.on("status", ({ code }) => resolve(code)).on("error", () => {});
  });
  closing.push(() => client.close());
  return {
    frames,
    ended,
    opened: () => eventually("it is opened", () => answers > 0),
    write: (bytes: Uint8Array) => void stream.write(Buffer.from(bytes)),
    send: (...sent: Sent[]) => void stream.write(Buffer.from(encode(sent))),
    /** The codes that calls ended with, by their numbers. */
    codes: () =>
      Object.fromEntries(
        frames.filter(({ part }) => part === parts.end).map((end) => [end.call, readPart(schemas.end, end).code]),
      ),
    end: () => stream.end(),
  };
}

const encode = (frames: Sent[]) => toBinary(CarryRequestSchema, create(CarryRequestSchema, { frames }));

const begin = (call: number, path: string, headers: Record<string, string> = right): Sent => ({
  call,
  part: {
    case: "start",
    value: { path, headers: Object.entries(headers).map(([name, value]) => ({ name, value })) },
  },
});
const message = (call: number): Sent => ({ call, part: { case: "message", value: new Uint8Array() } });
const whole = (call: number, headers?: Record<string, string>) => [
  begin(call, pathTo("unary"), headers),
  message(call),
];

describe("the stream ends, its calls stop, and others go on, when it gets", () => {
  test.each<[string, Uint8Array]>([
    ["bytes that are no message", Uint8Array.from([0x0a, 0x7f])],
    ["a call without a message", encode([begin(2, pathTo("unary"))])],
    ["a number that was used", encode(whole(1))],
    ["a number of none", encode(whole(0))],
    ["a part of no kind", encode([{ call: 2 }])],
    ["a part that a core sends", encode([{ call: 1, part: { case: "end", value: {} } }])],
    ["a beginning that cannot be read", Uint8Array.from([0x0a, 0x06, 0x08, 0x02, 0x12, 0x02, 0x0a, 0x7f])],
  ])("%s", async (_what, bytes) => {
    const service = new ScriptedService({ generate: untilGone, countTokens: () => 1 });
    const { address } = await start(grpcDoor, { services: [registration(InferenceService, service)] });
    const carry = openCarry(address);
    await carry.opened();
    carry.send(begin(1, pathTo("stream")), message(1));
    await eventually("it runs", () => service.started === 1);
    carry.write(bytes);
    expect(await carry.ended).toBe(grpc.status.INVALID_ARGUMENT);
    await service.finished;
    const other = openCarry(address);
    other.send(...whole(1));
    await eventually("another stream's call is answered", () => other.codes()[1] === grpc.status.OK);
    other.end();
    await other.ended;
  });
});

async function* untilGone(context: Parameters<typeof untilAborted>[0]) {
  yield* texts(["a"]);
  await untilAborted(context);
}

describe("a call alone fails", () => {
  test.each<[string, Sent[], grpc.status]>([
    ["of a method that is not there", [begin(2, "/none/None"), message(2)], grpc.status.UNIMPLEMENTED],
    [
      "that would carry others",
      [begin(2, "/tollgate.calls.v1.CallsService/Carry"), message(2)],
      grpc.status.UNIMPLEMENTED,
    ],
    ["with a wrong key", whole(2, wrong), grpc.status.UNAUTHENTICATED],
    ["without a key", whole(2, {}), grpc.status.UNAUTHENTICATED],
    ["with a header of no name", whole(2, { ...right, "a b": "c" }), grpc.status.INVALID_ARGUMENT],
    ["with a header of two lines", whole(2, { ...right, a: "b\r\nc: d" }), grpc.status.INVALID_ARGUMENT],
    ["with headers beyond their bound", whole(2, { ...right, a: "b".repeat(33_000) }), grpc.status.RESOURCE_EXHAUSTED],
    [
      "with a message that is none",
      [begin(2, pathTo("unary")), { call: 2, part: { case: "message", value: Uint8Array.from([0xff]) } }],
      grpc.status.INVALID_ARGUMENT,
    ],
  ])("%s", async (_what, frames, code) => {
    const { address } = await start(grpcDoor);
    const carry = openCarry(address);
    carry.send(...whole(1), ...frames, ...whole(3));
    await eventually("all are answered", () => Object.keys(carry.codes()).length === 3);
    expect(carry.codes()).toEqual({ 1: grpc.status.OK, 2: code, 3: grpc.status.OK });
    carry.end();
    expect(await carry.ended).toBe(grpc.status.OK);
  });
});

test("calls are observed one by one, and the stream is not", async () => {
  const { address, codes } = await start(grpcDoor);
  const carry = openCarry(address);
  carry.send(...whole(1), ...whole(2, wrong));
  await eventually("both are answered", () => Object.keys(carry.codes()).length === 2);
  carry.end();
  await carry.ended;
  expect(codes.sort()).toEqual(["ok", "unauthenticated"]);
});

test("nothing but wrong keys ends the connection", async () => {
  const { address, codes } = await start(grpcDoor);
  const carry = openCarry(address);
  carry.send(...Array.from({ length: 120 }, (_, at) => whole(at + 1, wrong)).flat());
  expect(await carry.ended).not.toBe(grpc.status.OK);
  expect(codes.length).toBeGreaterThan(100);
});

test("a caller that makes no room gets no more, and is given up after a minute", async () => {
  const clock = new ManualClock();
  const endless = new ScriptedService({ generate: () => texts(Array.from({ length: 1000 }, () => "x".repeat(1000))) });
  const services = [registration(InferenceService, endless)];
  const unread = new UnreadAnswers(1e9, clock);
  const { address } = await start(grpcDoor, { services, unread });
  const carry = openCarry(address);
  carry.send(begin(1, pathTo("stream")), message(1));
  await standstill("messages", () => carry.frames.length);
  expect(carry.frames.filter(({ part }) => part === parts.message)).toHaveLength(32);
  carry.send({ call: 1, part: { case: "credit", value: { messages: 4_000_000_000 } } });
  await standstill("messages", () => carry.frames.length);
  expect(carry.frames.filter(({ part }) => part === parts.message)).toHaveLength(64);
  for (let second = 0; second < 70; second += 1) {
    clock.advance(1000);
  }
  await eventually("it ends", () => carry.codes()[1] === grpc.status.CANCELLED);
  await endless.finished;
  expect(unread.bytes).toBe(0);
});

test.each([
  [100_000, 11],
  [600_000, 2],
  [2_000_000, 1],
])("messages of %i bytes that nobody reads are %i", async (length, most) => {
  const endless = new ScriptedService({ generate: () => texts(Array.from({ length: 40 }, () => "x".repeat(length))) });
  const services = [registration(InferenceService, endless)];
  const { address } = await start(grpcDoor, { services });
  const carry = openCarry(address);
  const messages = () => carry.frames.filter(({ part }) => part === parts.message).length;
  carry.send(begin(1, pathTo("stream")), message(1));
  await eventually("the room is used", () => messages() >= most);
  await standstill("messages", messages);
  expect(messages()).toBe(most);
  carry.send({ call: 1, part: { case: "credit", value: { messages: 1 } } });
  await eventually("there is room for one", () => messages() > most);
  await standstill("messages", messages);
  expect(messages()).toBe(most + 1);
  carry.send({ call: 1, part: { case: "cancel", value: {} } });
  await endless.finished;
});
