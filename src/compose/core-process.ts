import { systemRandom } from "../../lib/ids/random.ts";
import type { ServerTls } from "../../lib/net/tls-identity.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { readSecrets } from "../config/secrets.ts";
import { openTls } from "../config/tls.ts";
import { startConnectServer } from "../grpc/server/connect-server.ts";
import { createHealth } from "../grpc/server/health.ts";
import { startGrpcServer } from "../grpc/server/server.ts";
import { startAdmin } from "./admin.ts";
import { type Core, composeCore } from "./core.ts";
import { Lifecycle } from "./lifecycle.ts";
import { createLogger } from "./logger.ts";
import type { CoreOptions } from "./options.ts";
import { startOverload } from "./overload.ts";
import { reloadOnHangup } from "./reload.ts";
import { startTracing } from "./tracing.ts";

/** Runs the core alone, for facades and internal services elsewhere. Resolves when it is ready. */
export async function core(options: CoreOptions): Promise<void> {
  const logger = createLogger(options.log);
  const config = await loadConfig(options.config);
  const secrets = await readSecrets(config, process.env, systemRandom);
  const lifecycle = new Lifecycle(logger, config.shutdown);
  const tls = await openTls(config.listen.tls, systemClock, logger);
  const admin = await startAdmin(config.listen.admin, lifecycle, tls);
  const telemetry = { registry: admin.registry, tracer: await startTracing(lifecycle, logger) };
  const overload = startOverload(config.overload, 1, lifecycle, logger, admin.registry);
  const composed = await composeCore(config, secrets, lifecycle, logger, telemetry, overload);
  const addresses = await serveCore(composed, config, lifecycle, tls);
  reloadOnHangup(options.config, config, composed, lifecycle, logger);
  lifecycle.ready({ ...addresses, admin: admin.address });
}

/** Facades look the cores' name up when they connect, so this is how soon all of them know of a new core. */
const maxConnectionAgeMs = 60_000;

/** Serves the core's services over gRPC and over the Connect protocol. Returns host:port of each. */
export async function serveCore(
  core: Core,
  { listen }: Config,
  lifecycle: Lifecycle,
  tls: ServerTls | undefined,
): Promise<{ grpc: string; connect: string }> {
  const health = createHealth(core.services);
  const common = { services: [...core.services, health.registration], interceptors: core.interceptors, tls };
  const grpc = await startGrpcServer({ ...common, address: listen.grpc, maxConnectionAgeMs });
  const connect = await startConnectServer({ ...common, address: listen.connect, webhooks: core.webhooks });
  lifecycle.onStop(async (graceMs) => {
    await Promise.all([grpc.stop(graceMs), connect.stop(graceMs)]);
  });
  lifecycle.onStop(async () => health.drain());
  return { grpc: grpc.address, connect: connect.address };
}
