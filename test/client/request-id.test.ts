import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { systemClock } from "#lib/time/clock.ts";
import { observeCalls } from "#src/wire/interceptors/observation/observe.ts";
import { requestIdOf } from "../../client/index.js";
import { ScriptedService, texts } from "../wire/grpc/scripted-service.ts";
import { clientOf, drain, errorOf } from "../wire/grpc/transport-contract/calls.ts";
import { openConnect, openConnectNodeGrpc } from "../wire/grpc/transports.ts";

describe.each([
  ["gRPC", openConnectNodeGrpc],
  ["Connect", openConnect],
])("over %s the client tells the id", (_name, open) => {
  async function start() {
    const ids: string[] = [];
    const service = new ScriptedService({
      countTokens() {
        throw failure(Reason.MODEL_NOT_FOUND, "No such model.");
      },
      async *generate() {
        yield* texts(["a"]);
        throw failure(Reason.ENGINE_FAILED, "It broke.");
      },
    });
    const observe = observeCalls(systemClock, [({ requestId }) => void ids.push(requestId)]);
    return { ids, client: await clientOf(open, service, [observe]) };
  }

  test("of a refusal", async () => {
    const { ids, client } = await start();
    const id = requestIdOf(await errorOf(client.countTokens({})));
    expect(id).toMatch(/^req_/);
    expect(ids).toEqual([id]);
  });

  test("of an answer that broke off", async () => {
    const { ids, client } = await start();
    const id = requestIdOf(await errorOf(drain(client.generate({}))));
    expect(id).toMatch(/^req_/);
    expect(ids).toEqual([id]);
  });
});

test("an error of no answer has none", () => {
  expect([new Error("no"), undefined, failure(Reason.TIMEOUT, "no")].map(requestIdOf)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
