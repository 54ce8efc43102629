import { systemRandom } from "../../lib/ids/random.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { ConfigError } from "../config/config-error.ts";
import { defaultConfig, loadConfig } from "../config/load.ts";
import { movePorts } from "../config/move-ports.ts";
import type { Config } from "../config/schema.ts";
import { readSecrets, type Secrets } from "../config/secrets.ts";
import { openTls } from "../config/tls/tls.ts";
import { createDirectTransport } from "../grpc/direct/direct-transport.ts";
import { composeCore } from "./core.ts";
import { serveCore } from "./core-process.ts";
import { ensureDemo } from "./embedded/demo.ts";
import { invocationFor } from "./embedded/invocation.ts";
import { embeddedModels } from "./embedded/models.ts";
import { welcome } from "./embedded/welcome.ts";
import { startFront } from "./facade.ts";
import type { ServeOptions } from "./options.ts";
import { startAdmin } from "./process/admin.ts";
import { announceReady } from "./process/announce.ts";
import { Lifecycle } from "./process/lifecycle.ts";
import { createLogger } from "./process/logger.ts";
import { startOverload } from "./process/overload.ts";
import { reloadOnHangup } from "./process/reload.ts";
import { explainTakenPort } from "./process/taken-port.ts";
import { startTracing } from "./process/tracing.ts";
import { applyWorkarounds } from "./process/workarounds.ts";
import { supervise } from "./workers/supervise.ts";
import { reportToSupervisor, shareDrains, workerNumber } from "./workers/worker.ts";

/** Runs everything in one process, or in as many as asked for. Resolves when it is ready. */
export async function serve(options: ServeOptions): Promise<void> {
  const { workers = 1 } = options;
  const load = () => loadServed(options);
  if (workers > 1 && workerNumber() === undefined) {
    return supervise({ ...options, workers }, load);
  }
  const configured = await load();
  const secrets = await readSecrets(configured, process.env, systemRandom);
  try {
    await start(options, configured, secrets, load);
  } catch (error) {
    throw await explainTakenPort(error, configured.listen, secrets.dataDir);
  }
}

async function loadServed({ config: file, port }: ServeOptions): Promise<Config> {
  const config = file === undefined ? defaultConfig() : await loadConfig(file);
  return port === undefined ? config : { ...config, listen: movePorts(config.listen, port) };
}

async function start(
  options: ServeOptions,
  configured: Config,
  secrets: Secrets,
  load: () => Promise<Config>,
): Promise<void> {
  applyWorkarounds();
  const worker = workerNumber();
  const logger = createLogger(options.log);
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
  const overload = startOverload(config.overload, options.workers ?? 1, lifecycle, logger, admin.registry);
  const core = await composeCore(config, secrets, lifecycle, logger, telemetry, overload);
  if (worker !== undefined) {
    shareDrains(core.drains);
  }
  const addresses = await serveCore(core, config, lifecycle, tls);
  const transport = createDirectTransport(core.services, core.interceptors);
  const http = await startFront(config, transport, overload, lifecycle, logger, telemetry, tls);
  if (options.config !== undefined && embedded === undefined) {
    reloadOnHangup({ file: options.config, load }, config, core, lifecycle, logger);
  }
  if (embedded !== undefined) {
    const demo = await ensureDemo(secrets.dataDir, transport, secrets.operatorToken);
    const url = `${tls === undefined ? "http" : "https"}://${http}`;
    if (options.log === "pretty") {
      const { dataDir } = secrets;
      console.log(welcome({ ...embedded, url, demo, dataDir, command: invocationFor(dataDir, process.env) }));
    }
  }
  const all = { http, ...addresses, admin: admin.address };
  if (worker === undefined) {
    await announceReady(lifecycle, logger, secrets.dataDir, all);
  } else {
    lifecycle.ready(all);
  }
}
