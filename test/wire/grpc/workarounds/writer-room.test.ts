import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { ConversationSchema } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { reuseWriterRoom, toBytes } from "#src/wire/grpc/workarounds/writer-room.ts";

const conversation = (...texts: string[]) =>
  create(ConversationSchema, { messages: texts.map((text) => ({ text, toolCalls: [{ id: "call", name: text }] })) });

test("the library alone takes several times a text's length, so the workaround is still needed", () => {
  const writer = new BinaryWriter().string("x".repeat(100_000)) as unknown as { readonly buffer: Uint8Array };
  expect(writer.buffer.length).toBeGreaterThan(400_000);
});

describe("with the workaround", () => {
  beforeAll(reuseWriterRoom);

  test.each([
    ["nothing", []],
    ["a short text", ["Hi"]],
    [
      "texts that outgrow the short room while they are written",
      ["x".repeat(15_000), "y".repeat(15_000), "z".repeat(15_000)],
    ],
    ["a text that just fits the short room, and one more", ["x".repeat(21_800), "y"]],
    ["a long text", ["x".repeat(100_000)]],
    ["long texts beyond ASCII", ["ü".repeat(100_000), "語".repeat(200_000), "🙂"]],
    [
      "a text that outgrows the room while it is written",
      ["x".repeat(900_000), "y".repeat(900_000), "z".repeat(900_000)],
    ],
    ["a text that is longer than the room", ["x".repeat(5_000_000)]],
  ])("%s has the library's bytes", (_, texts) => {
    const message = conversation(...texts);
    const bytes = toBytes(ConversationSchema, message);
    expect(Buffer.compare(bytes, toBinary(ConversationSchema, message))).toBe(0);
    expect(fromBinary(ConversationSchema, bytes)).toEqual(message);
  });

  test.each([1, 50_000])("messages with texts of %i characters do not share their bytes", (length) => {
    const [first, second] = ["a", "b"].map((letter) => conversation(letter.repeat(length)));
    if (first === undefined || second === undefined) {
      throw new Error("there are two");
    }
    const bytes = toBytes(ConversationSchema, first);
    toBytes(ConversationSchema, second);
    expect(fromBinary(ConversationSchema, bytes)).toEqual(first);
  });

  test("a message that cannot be written leaves the next one as it is", () => {
    const wrong = conversation("x".repeat(50_000));
    Object.assign(wrong.messages[0] ?? {}, { role: "nobody" });
    expect(() => toBytes(ConversationSchema, wrong)).toThrow();
    const right = conversation("y".repeat(50_000));
    expect(fromBinary(ConversationSchema, toBytes(ConversationSchema, right))).toEqual(right);
  });
});
