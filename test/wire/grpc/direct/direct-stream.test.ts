import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import {
  type GenerateResponse,
  GenerateResponseSchema,
  InferenceService,
} from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { createClient } from "#lib/rpc/client.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";

/** How often a handler of two messages is asked to stop while a caller reads so many. */
async function countStops(read: number): Promise<number> {
  let stops = 0;
  let left = 2;
  const messages: AsyncIterableIterator<GenerateResponse> = {
    [Symbol.asyncIterator]: () => messages,
    next: async () =>
      left-- > 0 ? { done: false, value: create(GenerateResponseSchema) } : { done: true, value: undefined },
    async return() {
      stops++;
      return { done: true, value: undefined };
    },
  };
  const service = registration(InferenceService, { generate: () => messages });
  let count = 0;
  for await (const _ of createClient(InferenceService, createDirectTransport([service], [])).generate({})) {
    count++;
    if (count === read) {
      break;
    }
  }
  return stops;
}

test.each([
  ["is asked to stop when its caller leaves", 1, 1],
  ["is asked to stop when its caller leaves before it has heard of the end", 2, 1],
  ["is not asked to stop when it has come to its end", 3, 0],
])("a handler %s", async (_, read, stops) => {
  expect(await countStops(read)).toBe(stops);
});
