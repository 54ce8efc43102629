import { systemRandom } from "../../lib/ids/random.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { ConfigError } from "../config/config-error.ts";
import { defaultConfig, loadConfig } from "../config/load.ts";
import { readSecrets } from "../config/secrets.ts";
import { openTls } from "../config/tls.ts";
import { createDirectTransport } from "../grpc/direct/direct-transport.ts";
import { composeCore } from "./core.ts";
import { serveCore } from "./core-process.ts";
import { ensureDemo } from "./embedded/demo.ts";
import { embeddedModels } from "./embedded/models.ts";
import { welcome } from "./embedded/welcome.ts";
import { startFront } from "./facade.ts";
import type { ServeOptions } from "./options.ts";
import { startAdmin } from "./process/admin.ts";
import { Lifecycle } from "./process/lifecycle.ts";
import { createLogger } from "./process/logger.ts";
import { startOverload } from "./process/overload.ts";
import { reloadOnHangup } from "./process/reload.ts";
import { startTracing } from "./process/tracing.ts";
import { applyWorkarounds } from "./process/workarounds.ts";
import { supervise } from "./workers/supervise.ts";
import { reportToSupervisor, shareDrains, workerNumber } from "./workers/worker.ts";

/** Runs everything in one process, or in as many as asked for. Resolves when it is ready. */
export async function serve(options: ServeOptions): Promise<void> {
  const { workers = 1 } = options;
  const worker = workerNumber();
  if (workers > 1 && worker === undefined) {
    return supervise({ ...options, workers });
  }
  applyWorkarounds();
  const logger = createLogger(options.log);
  const configured = options.config === undefined ? defaultConfig() : await loadConfig(options.config);
  const secrets = await readSecrets(configured, process.env, systemRandom);
  const lifecycle = new Lifecycle(logger, configured.shutdown);
  const tls = await openTls(configured.listen.tls, systemClock, logger);
  const admin =
    worker === undefined
      ? await startAdmin(configured.listen.admin, lifecycle, tls)
      : reportToSupervisor(worker, configured.listen.admin, lifecycle);
  const telemetry = { registry: admin.registry, tracer: await startTracing(lifecycle, logger) };
  const isAsked = options.server !== undefined || options.gguf !== undefined;
  if (isAsked && configured.models.length > 0) {
    throw new ConfigError(
      `${options.config}: models: is for a start without --server and --gguf; leave one of them out`,
    );
  }
  const embedded = configured.models.length === 0 ? await embeddedModels(options, lifecycle) : undefined;
  const config = embedded === undefined ? configured : { ...configured, models: [...embedded.models] };
  const overload = startOverload(config.overload, workers, lifecycle, logger, admin.registry);
  const core = await composeCore(config, secrets, lifecycle, logger, telemetry, overload);
  if (worker !== undefined) {
    shareDrains(core.drains);
  }
  const addresses = await serveCore(core, config, lifecycle, tls);
  const transport = createDirectTransport(core.services, core.interceptors);
  const http = await startFront(config, transport, overload, lifecycle, logger, telemetry, tls);
  if (options.config !== undefined && embedded === undefined) {
    reloadOnHangup(options.config, config, core, lifecycle, logger);
  }
  if (embedded !== undefined) {
    const demo = await ensureDemo(secrets.dataDir, transport, secrets.operatorToken);
    const url = `${tls === undefined ? "http" : "https"}://${http}`;
    if (options.log === "pretty") {
      console.log(welcome({ ...embedded, url, demo }));
    }
  }
  lifecycle.ready({ http, ...addresses, admin: admin.address });
}
