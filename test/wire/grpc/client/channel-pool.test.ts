import { createClient } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { ScriptedService, texts } from "../scripted-service.ts";

test("more streams than a connection takes run at the same time", async () => {
  const count = 600;
  const release = Promise.withResolvers<void>();
  const service = new ScriptedService({
    async *generate() {
      yield* texts(["a"]);
      await release.promise;
    },
  });
  const services = [registration(InferenceService, service)];
  const server = await startGrpcServer({ address: "127.0.0.1:0", services, interceptors: [] });
  const transport = createChannelTransport({ target: server.address });
  try {
    const client = createClient(InferenceService, transport);
    const streams = Array.from({ length: count }, () => client.generate({})[Symbol.asyncIterator]());
    for (const stream of streams) {
      expect((await stream.next()).done).toBe(false);
    }
    expect(service.started).toBe(count);
    release.resolve();
    for (const stream of streams) {
      expect((await stream.next()).done).toBe(true);
    }
    await client.countTokens({});
  } finally {
    transport.close();
    await server.stop(0);
  }
});
