import type { Transport } from "@connectrpc/connect";
import { systemRandom } from "#lib/ids/random.ts";
import { reachable } from "#lib/net/address.ts";
import { systemClock } from "#lib/time/clock.ts";
import { ConfigError } from "#src/config/config-error.ts";
import { effectiveConfig } from "#src/config/effective.ts";
import { type ConfigFile, loadConfigFile, noFile } from "#src/config/load.ts";
import { movePorts } from "#src/config/ports/move-ports.ts";
import { findUnshared } from "#src/config/ports/shared-port.ts";
import type { Config } from "#src/config/schema.ts";
import { readSecrets, type Secrets } from "#src/config/secrets/secrets.ts";
import { openTls } from "#src/config/tls/tls.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { openConsole, type RunningConsole } from "./console.ts";
import { composeCore } from "./core.ts";
import { serveCore } from "./core-process.ts";
import { type Demo, ensureDemo } from "./embedded/demo.ts";
import { invocationFor, readContainer } from "./embedded/invocation.ts";
import { type EmbeddedModels, embeddedModels } from "./embedded/models.ts";
import { makeSignInUrl } from "./embedded/sign-in-url.ts";
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

/** Runs everything in one process. Resolves when it is ready. */
export async function serve(options: ServeOptions): Promise<void> {
  const { config: configured, placeOf } = await loadServed(options);
  const load = async () => (await loadServed(options)).config;
  const secrets = await readSecrets(configured, process.env, systemRandom, placeOf);
  const unshared = findUnshared(configured.listen, secrets);
  if (unshared !== undefined) {
    throw new ConfigError(unshared);
  }
  try {
    await start(options, configured, secrets, load);
  } catch (error) {
    throw await explainTakenPort(error, configured.listen, secrets.dataDir);
  }
}

async function loadServed({ config: file, port }: ServeOptions): Promise<ConfigFile> {
  const { config, placeOf } = file === undefined ? noFile() : await loadConfigFile(file);
  return { config: port === undefined ? config : { ...config, listen: movePorts(config.listen, port) }, placeOf };
}

async function start(
  options: ServeOptions,
  configured: Config,
  secrets: Secrets,
  load: () => Promise<Config>,
): Promise<void> {
  applyWorkarounds();
  const logger = createLogger(options.log);
  const lifecycle = new Lifecycle(logger, configured.shutdown);
  const tls = await openTls(configured.listen.tls, systemClock, logger);
  const admin = await startAdmin(configured.listen.admin, lifecycle, logger, tls);
  const telemetry = {
    registry: admin.registry,
    refused: admin.doors.refused,
    tracer: await startTracing(lifecycle, logger),
  };
  refuseBothModels(options, configured);
  const embedded = configured.models.length === 0 ? await embeddedModels(options, lifecycle) : undefined;
  const config = embedded === undefined ? configured : { ...configured, models: [...embedded.models] };
  const settings = await effectiveConfig(options.config, process.env);
  const control = startOverload(config.overload, lifecycle, logger, admin.registry);
  const core = await composeCore(config, secrets, lifecycle, logger, telemetry, control, settings);
  const addresses = await serveCore(core, config, lifecycle, admin.doors, tls);
  const transport = createDirectTransport(core.services, core.interceptors);
  const own = createDirectTransport(core.services, core.ownInterceptors);
  const front = await startFront(config, transport, control, lifecycle, logger, telemetry, admin.doors, tls);
  const http = front.address;
  const demo = embedded === undefined ? undefined : await ensureDemo(secrets.dataDir, own, secrets.operatorToken);
  const page = options.console
    ? await openConsole({
        config,
        transport: createDirectTransport(core.services, core.interceptors, "console"),
        front,
        lifecycle,
        logger,
        tls,
        doors: admin.doors,
        demoAccountId: demo?.accountId,
      })
    : undefined;
  if (options.config !== undefined && embedded === undefined) {
    reloadOnHangup({ file: options.config, load }, config, core, lifecycle, logger);
  }
  if (options.log === "pretty") {
    const url = reachable(`${tls === undefined ? "http" : "https"}://${http}`);
    await greet({ secrets, embedded, demo, url, page, transport: own });
  }
  const all = { http, ...(page && { console: page.address }), ...addresses, admin: admin.address };
  await announceReady(lifecycle, logger, secrets.dataDir, all, config.site.address);
}

/** Prints where everything is, and how the operator signs in. */
async function greet({
  secrets: { dataDir, operatorToken },
  embedded,
  demo,
  url,
  page,
  transport,
}: {
  readonly secrets: Secrets;
  readonly embedded: EmbeddedModels | undefined;
  readonly demo: Demo | undefined;
  readonly url: string;
  readonly page: RunningConsole | undefined;
  readonly transport: Transport;
}): Promise<void> {
  const link = page === undefined ? undefined : await makeSignInUrl(reachable(page.url), transport, operatorToken);
  if (embedded !== undefined && demo !== undefined) {
    console.log(
      welcome({ ...embedded, url, demo, dataDir, link, command: invocationFor(dataDir, process.env, readContainer()) }),
    );
  } else if (link !== undefined) {
    console.log(`  console    ${link}\n`);
  }
}

/** Throws ConfigError when models are both configured and given on the command line. */
function refuseBothModels({ server, gguf, config }: ServeOptions, { models }: Config): void {
  if ((server !== undefined || gguf !== undefined) && models.length > 0) {
    throw new ConfigError(`${config}: models: is for a start without --server and --gguf; leave one of them out`);
  }
}
