import type { RequestListener } from "node:http";
import type { Door } from "#lib/door/door.ts";
import { systemRandom } from "#lib/ids/random.ts";
import type { ServerTls } from "#lib/net/tls-identity.ts";
import { systemClock } from "#lib/time/clock.ts";
import { effectiveConfig } from "#src/config/effective.ts";
import { loadConfig, loadConfigFile } from "#src/config/load.ts";
import type { Config } from "#src/config/schema.ts";
import { readSecrets } from "#src/config/secrets/secrets.ts";
import { openTls } from "#src/config/tls/tls.ts";
import { createHealth } from "#src/wire/grpc/server/health.ts";
import { startConnectServer } from "#src/wire/grpc/server/http/connect-server.ts";
import { startHttpListener } from "#src/wire/grpc/server/http/http-listener.ts";
import type { ListeningServer } from "#src/wire/grpc/server/listening-server.ts";
import { Receiving } from "#src/wire/grpc/server/receiving.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import type { Core } from "./core/interface.ts";
import { composeCore } from "./core.ts";
import type { CoreOptions } from "./options.ts";
import { startAdmin } from "./process/admin.ts";
import { announceReady } from "./process/announce.ts";
import type { Doors } from "./process/doors.ts";
import { Lifecycle } from "./process/lifecycle.ts";
import { createLogger } from "./process/logger.ts";
import { startOverload } from "./process/overload.ts";
import { reloadOnHangup } from "./process/reload.ts";
import { startTracing } from "./process/tracing.ts";
import { applyWorkarounds } from "./process/workarounds.ts";

/** Runs the core alone, for facades and internal services elsewhere. Resolves when it is ready. */
export async function core(options: CoreOptions): Promise<void> {
  applyWorkarounds();
  const logger = createLogger(options.log);
  const { config, placeOf } = await loadConfigFile(options.config);
  const secrets = await readSecrets(config, process.env, systemRandom, placeOf);
  const lifecycle = new Lifecycle(logger, config.shutdown);
  const tls = await openTls(config.listen.tls, systemClock, logger);
  const admin = await startAdmin(config.listen.admin, lifecycle, logger, tls);
  const telemetry = {
    registry: admin.registry,
    refused: admin.doors.refused,
    tracer: await startTracing(lifecycle, logger),
  };
  const settings = await effectiveConfig(options.config, process.env);
  const control = startOverload(config.overload, lifecycle, logger, admin.registry);
  const composed = await composeCore(config, secrets, lifecycle, logger, telemetry, control, settings);
  const addresses = await serveCore(composed, config, lifecycle, admin.doors, tls);
  reloadOnHangup({ file: options.config, load: () => loadConfig(options.config) }, config, composed, lifecycle, logger);
  await announceReady(lifecycle, logger, secrets.dataDir, { ...addresses, admin: admin.address }, config.site.address);
}

/** Facades have many streams, whose readers may be slow. */
const grpcUnreadBytes = 128 * 1024 * 1024;
/** Few calls come to the payments' listener, none of them large, and it faces everybody. */
const paymentLimits = { connections: 500, connectionsPerAddress: 50 };
const paymentPatience = { headerTimeoutMs: 10_000, requestTimeoutMs: 30_000 };
/** Facades resolve the cores' name when they connect, so all of them know of a new core within this time. */
const maxConnectionAgeMs = 60_000;

/** Serves the core's services over gRPC and over the Connect protocol. Returns host:port of each. */
export async function serveCore(
  core: Core,
  { listen }: Config,
  lifecycle: Lifecycle,
  doors: Doors,
  tls: ServerTls | undefined,
): Promise<{ grpc: string; connect: string; webhooks?: string }> {
  const health = createHealth(core.services);
  const { interceptors, gate } = core;
  const receiving = new Receiving();
  const common = {
    services: [...core.services, health.registration],
    interceptors,
    gate,
    receiving,
    tls,
  };
  const grpc = await startGrpcServer({
    ...common,
    door: doors.make("grpc", { unreadBytes: grpcUnreadBytes }),
    address: listen.grpc,
    maxConnectionAgeMs,
  });
  const connect = await startConnectServer({ ...common, door: doors.make("connect"), address: listen.connect });
  const webhooks = await serveWebhooks(core, listen.webhooks, doors.make("payments", { limits: paymentLimits }), tls);
  lifecycle.onStop("the core's servers", async (graceMs) => {
    await Promise.all([grpc, connect, webhooks].map((server) => server?.stop(graceMs)));
  });
  lifecycle.onStop("health", async () => health.drain());
  return { grpc: grpc.address, connect: connect.address, ...(webhooks && { webhooks: webhooks.address }) };
}

/** Payment providers only need this listener, so that nothing else of the core has to be open to them. */
async function serveWebhooks(
  { webhooks }: Core,
  address: string,
  door: Door,
  tls: ServerTls | undefined,
): Promise<ListeningServer | undefined> {
  if (webhooks.size === 0) {
    return undefined;
  }
  const listeners = new Map([...webhooks].map(([path, webhook]) => [path, webhook(door)]));
  const handler: RequestListener = (request, response) => {
    const [path = ""] = request.url?.split("?", 1) ?? [];
    const webhook = listeners.get(path);
    if (webhook !== undefined) {
      return webhook(request, response);
    }
    response.writeHead(404, { connection: "close" }).end("not found\n");
  };
  return startHttpListener({ address, setting: "listen.webhooks", handler, door, tls, ...paymentPatience });
}
