import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { hideErrors } from "#src/wire/interceptors/errors.ts";
import { ScriptedService } from "../grpc/scripted-service.ts";
import { routes } from "../grpc/transports.ts";

const gone = new Error("connect ECONNREFUSED 10.0.0.1:5432");
const bug = new Error("secret of the house");
const explain = (error: unknown) => (error === gone ? failure(Reason.LEDGER_UNAVAILABLE, "It is gone.") : undefined);

describe.each(routes)("%s", (_, open) => {
  test.each([
    ["what callers may know is explained", gone, Code.Unavailable, "It is gone.", Reason.LEDGER_UNAVAILABLE, 0],
    ["what they may not know is hidden", bug, Code.Internal, "internal error", undefined, 1],
    [
      "what is meant for them stays as it is",
      failure(Reason.KEY_NOT_FOUND, "no"),
      Code.NotFound,
      "no",
      Reason.KEY_NOT_FOUND,
      0,
    ],
  ])("%s", async (_, thrown, code, message, reason, logged) => {
    const log: unknown[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (fields: object) => log.push(fields) };
    const service = new ScriptedService({
      countTokens() {
        throw thrown;
      },
    });
    const route = await open([registration(InferenceService, service)], [hideErrors(logger, explain)]);
    try {
      const error = await createClient(InferenceService, route.transport)
        .countTokens({})
        .then(() => undefined, ConnectError.from);
      expect([error?.code, error?.rawMessage, readDetail(error)?.reason]).toEqual([code, message, reason]);
      expect(log).toHaveLength(logged);
    } finally {
      await route.close();
    }
  });
});
