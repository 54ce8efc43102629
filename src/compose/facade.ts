import type { Transport } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { startHttpServer } from "#lib/door/http-server.ts";
import { failure } from "#lib/errors/failure.ts";
import { markUnheard } from "#lib/errors/unheard.ts";
import { systemRandom } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import { inNetworks } from "#lib/net/networks.ts";
import type { ServerTls } from "#lib/net/tls-identity.ts";
import { boundToMemory } from "#lib/overload/memory.ts";
import { systemClock } from "#lib/time/clock.ts";
import { defaultConfig, loadConfig } from "#src/config/load.ts";
import type { Config } from "#src/config/schema.ts";
import { readClientTls } from "#src/config/tls/client-tls.ts";
import { openTls } from "#src/config/tls/tls.ts";
import { httpMetrics } from "#src/telemetry/metrics/http-metrics.ts";
import { traceExchanges } from "#src/telemetry/traces/exchanges.ts";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { patienceMs } from "#src/wire/grpc/server/listening-server.ts";
import { createTlsCredentials } from "#src/wire/grpc/workarounds/tls-server-name.ts";
import { createFront } from "../../facades/front.ts";
import { clientAddress } from "../../facades/http/request/client-address.ts";
import { type RunningFront, startConsole } from "./console.ts";
import type { FacadeOptions } from "./options.ts";
import { startAdmin } from "./process/admin.ts";
import { connectionLimits, type Doors, requestPatience } from "./process/doors.ts";
import { Lifecycle } from "./process/lifecycle.ts";
import { createLogger } from "./process/logger.ts";
import { type LoadControl, startOverload } from "./process/overload.ts";
import { readSite } from "./process/site.ts";
import { startTracing, type Telemetry } from "./process/tracing.ts";
import { applyWorkarounds } from "./process/workarounds.ts";

/** The admin address of a facade without a configuration when a core on the same machine has the usual one. */
const besideCore = "127.0.0.1:9465";

/** Runs both public surfaces in front of cores that run elsewhere. Resolves when it is ready. */
export async function facade(options: FacadeOptions): Promise<void> {
  applyWorkarounds();
  const logger = createLogger(options.log);
  const config = options.config === undefined ? defaultConfig() : await loadConfig(options.config);
  const { listen, shutdown } = config;
  const lifecycle = new Lifecycle(logger, shutdown);
  const tls = await openTls(listen.tls, systemClock, logger);
  const clientTls = await readClientTls(options);
  const admin = await startAdmin(listen.admin, lifecycle, logger, tls).catch((error: unknown) => {
    if (options.config !== undefined) {
      throw error;
    }
    return startAdmin(besideCore, lifecycle, logger, tls);
  });
  const telemetry = { registry: admin.registry, tracer: await startTracing(lifecycle, logger) };
  const transport = createChannelTransport({
    target: options.core,
    onUnsent: markUnheard,
    ...(clientTls && { credentials: createTlsCredentials(clientTls) }),
  });
  lifecycle.onStop("the channel to the core", async () => transport.close());
  const control = startOverload(config.overload, lifecycle, logger, admin.registry);
  const front = await startFront(config, transport, control, lifecycle, logger, telemetry, admin.doors, tls);
  const http = front.address;
  const console =
    listen.console === undefined
      ? undefined
      : await startConsole({
          config,
          address: listen.console,
          transport,
          front,
          lifecycle,
          logger,
          tls,
          doors: admin.doors,
        });
  lifecycle.ready({ http, ...(console && { console: console.address }), admin: admin.address });
}

/** Serves both public surfaces over a transport. */
export async function startFront(
  config: Pick<Config, "listen" | "http" | "site" | "labels">,
  transport: Transport,
  { overload, intake }: LoadControl,
  lifecycle: Lifecycle,
  logger: Logger,
  { registry, tracer }: Telemetry,
  doors: Doors,
  tls?: ServerTls,
): Promise<RunningFront> {
  const { listen, http } = config;
  const isTrustedProxy = listen.trusted_proxies.length === 0 ? undefined : inNetworks(listen.trusted_proxies);
  const door = doors.make("public", { limits: connectionLimits(http), isTrustedProxy });
  const observer = { ...httpMetrics(registry), refused: door.refused };
  const { listener, answerMalformed, end } = createFront({
    transport,
    overload,
    intake,
    clock: systemClock,
    random: systemRandom,
    logger,
    observer,
    isTrustedProxy,
    site: await readSite(config),
    labels: config.labels.keep,
    limits: {
      bodyMemory: boundToMemory(http.body_memory_mib * 1024 * 1024, "machine"),
      answerMemory: boundToMemory(http.answer_memory_mib * 1024 * 1024, "machine"),
      minBodyRate: http.min_body_rate,
      requestsPerAddress: http.connections_per_address,
    },
    ...(tracer && { trace: traceExchanges(tracer) }),
  });
  const server = await startHttpServer(listener, listen.http, {
    door,
    tls,
    answerMalformed,
    toClient: (request) => clientAddress(request, isTrustedProxy),
    ...requestPatience(http),
    setting: "listen.http",
    watchesAnswers: true,
    reusePort: listen.reuse_port,
  });
  lifecycle.onStop("the public surfaces", async (graceMs) => {
    const grace = setTimeout(() => end(failure(Reason.SHUTTING_DOWN, "The service is shutting down.")), graceMs);
    await server.close(graceMs + patienceMs);
    clearTimeout(grace);
  });
  return { listener, answerMalformed, address: server.address };
}
