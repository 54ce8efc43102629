import { setTimeout } from "node:timers/promises";
import { AccountsService } from "#gen/accounts/v1/accounts_service_pb.js";
import { CatalogueService } from "#gen/catalogue/v1/catalogue_service_pb.js";
import { EmbeddingsService } from "#gen/embeddings/v1/embeddings_service_pb.js";
import { Reason } from "#gen/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/inference/v1/inference_service_pb.js";
import { MeteringService } from "#gen/metering/v1/metering_service_pb.js";
import { createFront } from "../../facades/front.ts";
import { startHttpServer } from "../../facades/http/server.ts";
import { createCatalogue } from "../../src/catalogue/catalogue.ts";
import { createCatalogueService } from "../../src/catalogue/catalogue-service.ts";
import { configSchema } from "../../src/config/schema.ts";
import { createEmbeddingsService } from "../../src/embeddings/embeddings-service.ts";
import { createEngine } from "../../src/engines/create-engine.ts";
import { failure } from "../../src/errors.ts";
import { createFleet } from "../../src/fleet/create-fleet.ts";
import { createDirectTransport } from "../../src/grpc/direct-transport.ts";
import { registration } from "../../src/grpc/registration.ts";
import { createInferenceService } from "../../src/inference/inference-service.ts";
import { authenticate } from "../../src/interceptors/authenticate.ts";
import { createFailedAttempts } from "../../src/interceptors/failed-attempts.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { systemRandom } from "../../src/runtime/random.ts";
import { defaultFleetConfig, startDefaultFleet } from "../../src/simulator/fleet.ts";

/** A whole service with a simulated fleet, on a free port. */
export interface Service extends AsyncDisposable {
  /** Such as "http://127.0.0.1:40000". */
  readonly url: string;
  /** A key with money. */
  readonly key: string;
  /** Resolves once no engine runs anything. */
  idle(): Promise<void>;
}

/** One served model of each class. */
export const models = {
  always: "tollgate-sim/reasoner-always",
  off: "tollgate-sim/reasoner-off",
  on: "tollgate-sim/reasoner-on",
  plain: "tollgate-sim/plain",
  embedder: "tollgate-sim/embedder",
};

const key = "tg-test";
const logger = { debug() {}, info() {}, warn() {}, error: console.error };

export async function startService(): Promise<Service> {
  const engines = await startDefaultFleet({ speed: 0 });
  const config = configSchema.parse({ models: defaultFleetConfig(engines) });
  const clock = systemClock;
  const random = systemRandom;
  const catalogue = createCatalogue(config.models, new Date());
  const fleet = createFleet({
    models: catalogue.list(),
    config: config.fleet,
    engines: (server, model) => createEngine(server, model, config.fleet),
    clock,
    random,
    logger,
  });
  const rates = { admit: async () => rate, read: async () => rate };
  const rate = { limit: 1000, remaining: 999, resetAfterMs: 60 };
  const ledger = {
    hold: async ({ outputTokens }: { outputTokens: number }) => ({
      outputTokens,
      progress() {},
      async settle() {},
      release() {},
    }),
    standing: async () => ({ createdAt: 0, paidTotal: 1n, freeOnly: false }),
    async close() {},
  };
  const deps = { catalogue, fleet, ledger, rateLimits: rates, random, logger, cacheSalt: true };
  const transport = createDirectTransport(
    [
      registration(InferenceService, createInferenceService(deps)),
      registration(EmbeddingsService, createEmbeddingsService(deps)),
      registration(
        CatalogueService,
        createCatalogueService({ catalogue, fleet, prices: { live: () => ({ input: 200_000, output: 250_000 }) } }),
      ),
      registration(AccountsService, {}),
      registration(MeteringService, { countRequest: () => ({}) }),
    ],
    [
      authenticate(
        {
          async authenticate(credential) {
            if (credential !== key) throw failure(Reason.UNAUTHENTICATED, "The API key is not valid.");
            return { kind: "caller", accountId: "a", keyId: "k" };
          },
        },
        createFailedAttempts(),
      ),
    ],
  );
  const server = await startHttpServer(createFront({ transport, clock, random, logger }), "127.0.0.1:0");
  return {
    url: server.url,
    key,
    async idle() {
      while (engines.some((engine) => engine.metrics().running > 0)) await setTimeout(10);
    },
    async [Symbol.asyncDispose]() {
      await server.close(0);
      await fleet.close();
      await Promise.all(engines.map((engine) => engine.close()));
    },
  };
}
