import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type Transport } from "@connectrpc/connect";
import { Registry } from "prom-client";
import type { input } from "zod";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import type { EngineName } from "#lib/inference/engine-names.ts";
import type { RunningFront } from "#src/compose/console.ts";
import { composeCore } from "#src/compose/core.ts";
import { startFront } from "#src/compose/facade.ts";
import { createDoors, type Doors } from "#src/compose/process/doors.ts";
import { Lifecycle } from "#src/compose/process/lifecycle.ts";
import { applyWorkarounds } from "#src/compose/process/workarounds.ts";
import { configSchema } from "#src/config/schema.ts";
import { readSecrets } from "#src/config/secrets/secrets.ts";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { defaultFleetConfig, startDefaultFleet } from "../../simulator/fleet.ts";
import type { DialectName } from "../../simulator/options.ts";
import { eventually } from "./eventually.ts";
import { errorLogger } from "./loggers.ts";
import { placeDatabase } from "./new-database.ts";

/** A process with no more work than it can do. */
const idle = { overload: { shortage: undefined }, intake: { enter: () => undefined } };

/** A receipt with its counts as numbers, as clients see it. */
export type CountedReceipt = Omit<Receipt, "inputTokens" | "outputTokens"> & {
  readonly inputTokens: number;
  readonly outputTokens: number;
};

/** A complete service with a simulated fleet, on a free port. */
export interface Service extends AsyncDisposable {
  /** A URL such as "http://127.0.0.1:40000". */
  readonly url: string;
  /** A key with money. */
  readonly key: string;
  /** The receipt of a request. */
  receipt(requestId: string | null | undefined): Promise<CountedReceipt | undefined>;
  /** Creates a key of another account with money. */
  anotherKey(): Promise<string>;
  /** The core's gRPC address, as host:port. Undefined: gRPC is not served. */
  readonly grpc: string | undefined;
  /** Calls the core as the operator. */
  readonly operator: Transport;
  readonly operatorToken: string;
  /** The file of its storage. */
  readonly database: string;
  /** The transport from the public surfaces to the core. */
  readonly transport: Transport;
  /** The running public surfaces. */
  readonly front: RunningFront;
  /** Ends users of the service before the service itself. */
  readonly lifecycle: Lifecycle;
  readonly doors: Doors;
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

/** Engines whose dialects every client is tested with. */
export const dialects = ["vllm", "sglang", "llama.cpp"] as const satisfies DialectName[];

/** Starts a service like `serve`, with simulated engines of a dialect. */
export async function startService(dialect: DialectName & EngineName = "vllm"): Promise<Service> {
  const engines = await startDefaultFleet({ speed: 0, dialect });
  const models = defaultFleetConfig(engines).map(({ servers, ...model }) => ({
    ...model,
    servers: servers.map(({ url }) => ({ url, engine: dialect })),
  }));
  const service = await serveModels(models);
  return {
    ...service,
    async idle() {
      await eventually("no engine runs anything", () => engines.every((engine) => engine.metrics().running === 0));
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await Promise.all(engines.map((engine) => engine.close()));
    },
  };
}

/**
 * Serves configured models, with its own storage and a paying account. `isSplit`: surfaces use the core over gRPC.
 * `environment`: the secrets of a shared storage.
 */
export async function serveModels(
  models: input<typeof configSchema>["models"],
  more: Omit<input<typeof configSchema>, "models"> = {},
  isSplit = false,
  environment: Readonly<Record<string, string>> = {},
): Promise<Omit<Service, "idle">> {
  applyWorkarounds();
  const dataDir = await mkdtemp(join(tmpdir(), "tollgate-"));
  const config = configSchema.parse({ models, rate_tiers: [{ rpm: 100_000 }], ...more });
  const secrets = await readSecrets(config, { TOLLGATE_DATA_DIR: dataDir, ...environment }, systemRandom);
  const database = join(dataDir, "tollgate.db");
  if (secrets.storageUrl === `sqlite:${database}`) {
    await placeDatabase(database);
  }
  const lifecycle = new Lifecycle(errorLogger);
  const telemetry = { registry: new Registry(), tracer: undefined };
  const doors = createDoors(telemetry.registry, errorLogger);
  const core = await composeCore(config, secrets, lifecycle, errorLogger, telemetry, idle);
  const transport = createDirectTransport(core.services, core.interceptors);
  const grpc = isSplit ? await startGrpcServer({ ...core, address: "127.0.0.1:0" }) : undefined;
  if (grpc !== undefined) {
    lifecycle.onStop("gRPC", () => grpc.stop(0));
  }
  const channel = grpc === undefined ? undefined : createChannelTransport({ target: grpc.address });
  if (channel !== undefined) {
    lifecycle.onStop("the channel", async () => channel.close());
  }
  const front = await startFront(
    { ...config, listen: { ...config.listen, http: "127.0.0.1:0" } },
    channel ?? transport,
    idle,
    lifecycle,
    errorLogger,
    telemetry,
    doors,
  );

  const operator = createDirectTransport(core.services, [
    (next) => (request) => {
      request.header.set("authorization", `Bearer ${secrets.operatorToken}`);
      return next(request);
    },
    ...core.interceptors,
  ]);
  const accounts = createClient(AccountsService, operator);
  const metering = createClient(MeteringService, operator);
  const anotherKey = async () => {
    const { account } = await accounts.createAccount({});
    const accountId = account?.id ?? "";
    await accounts.topUp({ accountId, amountPicoUsd: 100n * 10n ** 12n, reference: `test-${accountId}` });
    return (await accounts.createKey({ accountId })).secret;
  };
  const key = await anotherKey();
  return {
    url: `http://${front.address}`,
    key,
    anotherKey,
    operator,
    operatorToken: secrets.operatorToken,
    transport: channel ?? transport,
    front,
    lifecycle,
    doors,
    grpc: grpc?.address,
    database,
    async receipt(requestId) {
      const { receipt } = await metering.getReceipt({ requestId: requestId ?? "" });
      return (
        receipt && {
          ...receipt,
          inputTokens: Number(receipt.inputTokens),
          outputTokens: Number(receipt.outputTokens),
        }
      );
    },
    async [Symbol.asyncDispose]() {
      await lifecycle.stop();
      await rm(dataDir, { recursive: true });
    },
  };
}
