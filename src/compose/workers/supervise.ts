import { fileURLToPath } from "node:url";
import { Gauge } from "prom-client";
import { isBinary, programModule } from "../../../lib/assets.ts";
import { systemClock } from "../../../lib/time/clock.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/schema.ts";
import { peekSecrets, type Secrets } from "../../config/secrets.ts";
import { openTls } from "../../config/tls/tls.ts";
import { type Readiness, type ShownMetrics, startAdminServer } from "../../telemetry/admin-server.ts";
import { createRegistry } from "../../telemetry/registry.ts";
import type { ServeOptions } from "../options.ts";
import { announceReady } from "../process/announce.ts";
import { Lifecycle, settleMs } from "../process/lifecycle.ts";
import { createLogger } from "../process/logger.ts";
import { explainTakenPort } from "../process/taken-port.ts";
import { mergeMetrics } from "./merge-metrics.ts";
import { WorkerPool } from "./pool.ts";

/** Runs several processes that each serve everything, behind the same addresses. Resolves when all are ready. */
export async function supervise(
  { workers, ...options }: ServeOptions & { readonly workers: number },
  load: () => Promise<Config>,
): Promise<void> {
  const logger = createLogger(options.log);
  if (options.config === undefined || options.server !== undefined || options.gguf !== undefined) {
    throw new ConfigError("--workers needs --config with models: a simulated fleet or --gguf runs in one process");
  }
  const config = await load();
  const { dataDir } = await demandSharedState(workers, config);
  const lifecycle = new Lifecycle(logger, config.shutdown, settleMs + 1500);
  const tls = await openTls(config.listen.tls, systemClock, logger);

  const pool = new WorkerPool(workers, { program: programOfWorkers(), logger });
  // All workers are up before the first request comes. Later, the others serve while one is replaced.
  const readiness: Readiness = {
    get ready() {
      return lifecycle.readiness.ready && pool.ready > 0;
    },
  };
  const metrics = supervisorMetrics(readiness, pool);
  const admin = await startAdminServer(config.listen.admin, metrics, readiness, tls).catch(async (error: unknown) => {
    throw await explainTakenPort(error, config.listen, dataDir);
  });
  lifecycle.onStop("the admin server", () => admin.close());
  lifecycle.onStop("workers", (graceMs) => pool.stop(graceMs));
  lifecycle.onHangup(() => pool.reload());
  const addresses = await pool.started;
  await announceReady(lifecycle, logger, dataDir, { ...addresses, admin: admin.address, workers: String(workers) });
}

/** A worker's command: this program with the same arguments. A binary is started with its arguments alone. */
function programOfWorkers(): readonly string[] {
  const args = process.argv.slice(2);
  return isBinary ? args : [fileURLToPath(programModule("src/main")), ...args];
}

/** The metrics of every process, each labelled with its name, as if they were replicas. */
function supervisorMetrics(readiness: Readiness, pool: WorkerPool): ShownMetrics {
  const registry = createRegistry(readiness);
  registry.setDefaultLabels({ worker: "supervisor" });
  new Gauge({
    name: "tollgate_workers_ready",
    help: "Worker processes that take requests.",
    registers: [registry],
    collect() {
      this.set(pool.ready);
    },
  });
  return {
    contentType: registry.contentType,
    metrics: async () => mergeMetrics([await registry.metrics(), ...(await pool.metrics())]),
  };
}

/**
 * Requires a shared database and shared rate limits: processes that share neither would spend one balance several
 * times. Throws ConfigError.
 */
async function demandSharedState(workers: number, config: Config): Promise<Secrets> {
  if (config.models.length === 0) {
    throw new ConfigError("--workers needs models in the configuration");
  }
  const secrets = await peekSecrets(config, process.env);
  const { storageUrl, rateLimitUrl } = secrets;
  const missing = [
    ...(storageUrl.startsWith("sqlite:")
      ? ["PostgreSQL (TOLLGATE_STORAGE_URL or storage.url: postgresql://…), because SQLite allows one process"]
      : []),
    ...(rateLimitUrl === "memory:"
      ? [
          "Valkey or Redis (TOLLGATE_RATE_LIMIT_URL or rate_limits.url: redis://…), because each process has a memory of its own",
        ]
      : []),
  ];
  if (missing.length > 0) {
    throw new ConfigError(`--workers ${workers} needs ${missing.join(", and ")}`);
  }
  return secrets;
}
