import { Code, createClient, type Interceptor } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { Shortage } from "#lib/overload/monitor.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { createHealth } from "#src/wire/grpc/server/health.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { shedLoad } from "#src/wire/interceptors/limits/shed-load.ts";

const overload: { shortage: Shortage | undefined } = { shortage: undefined };
const goOn = Promise.withResolvers<void>();
const services = [
  registration(AccountsService, { listAccounts: () => ({}), getKeyStatus: () => ({}) }),
  registration(CatalogueService, { listModels: () => ({}) }),
  registration(InferenceService, {
    async *generate() {
      yield {};
      await goOn.promise;
      yield {};
    },
  }),
];
const interceptors: Interceptor[] = [shedLoad(overload)];
const transport = createDirectTransport([...services, createHealth(services).registration], interceptors);
const accounts = createClient(AccountsService, transport);

describe("while the process is overloaded", () => {
  test("callers are told when to come again, the health check and operators are answered, and streams go on", async () => {
    const running = createClient(InferenceService, transport).generate({})[Symbol.asyncIterator]();
    await running.next();
    overload.shortage = "memory";
    const refusals = await Promise.all([
      accounts.getKeyStatus({}).catch((error: unknown) => error),
      createClient(CatalogueService, transport)
        .listModels({})
        .catch((error: unknown) => error),
    ]);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: Code.Unavailable });
      expect(readDetail(refusal)).toMatchObject({ reason: Reason.OVERLOADED, retryAfter: { seconds: 5n } });
    }
    await accounts.listAccounts({});
    await createClient(Health, transport).check({});
    goOn.resolve();
    expect(await running.next()).toMatchObject({ done: false });
    overload.shortage = undefined;
    await accounts.getKeyStatus({});
  });
});
