import { type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";

/** A message's bytes as the Buffer that grpc-js writes; a view, not a copy. */
export function bytesOf(schema: DescMessage, message: Message): Buffer {
  const { buffer, byteOffset, byteLength } = toBinary(schema, message);
  return Buffer.from(buffer, byteOffset, byteLength);
}
