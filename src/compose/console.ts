import type { Transport } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { startHttpServer } from "#lib/door/http-server.ts";
import { failure } from "#lib/errors/failure.ts";
import { readPackaged, readPackagedFolder } from "#lib/files/assets.ts";
import type { Logger } from "#lib/logger.ts";
import { isLoopback, parseAddress } from "#lib/net/address.ts";
import { inNetworks } from "#lib/net/networks.ts";
import type { ServerTls } from "#lib/net/tls-identity.ts";
import { systemClock } from "#lib/time/clock.ts";
import { consoleAddress } from "#src/config/ports/move-ports.ts";
import type { Config } from "#src/config/schema.ts";
import { createConnectHandler } from "#src/wire/grpc/server/http/connect-server.ts";
import { forwardServices } from "../../facades/console/calls/forward.ts";
import { createConsole } from "../../facades/console/console.ts";
import type { Reach } from "../../facades/console/dependencies.ts";
import type { Front } from "../../facades/front.ts";
import { clientAddress } from "../../facades/http/request/client-address.ts";
import { createConsoleGate } from "./console-gate.ts";
import { connectionLimits, type Doors, requestPatience } from "./process/doors.ts";
import type { Lifecycle } from "./process/lifecycle.ts";
import { readSite } from "./process/site.ts";

/** The running public surfaces. */
export interface RunningFront extends Omit<Front, "end"> {
  /** host:port. */
  readonly address: string;
}

interface Dependencies {
  readonly config: Pick<Config, "listen" | "http" | "sign_in" | "site">;
  readonly address: string;
  readonly transport: Transport;
  /** The public surfaces, which the playground calls. */
  readonly front: RunningFront;
  readonly lifecycle: Lifecycle;
  readonly doors: Doors;
  readonly logger: Logger;
  readonly tls: ServerTls | undefined;
  /** The account that an embedded service made. Undefined: none. */
  readonly demoAccountId?: string | undefined;
}

/** The running console. */
export interface RunningConsole {
  /** host:port. */
  readonly address: string;
  /** Its URL for browsers, such as "http://127.0.0.1:8081". */
  readonly url: string;
}

/** Serves the console over a transport. Throws when it cannot listen on the address. */
export async function startConsole(parts: Dependencies): Promise<RunningConsole> {
  const { config, transport, front, lifecycle, logger, tls } = parts;
  const shutdown = new AbortController();
  const { trusted_proxies } = config.listen;
  const isTrustedProxy = trusted_proxies.length === 0 ? undefined : inNetworks(trusted_proxies);
  const door = parts.doors.make("console", { limits: connectionLimits(config.http), isTrustedProxy });
  const scheme = tls === undefined ? "http" : "https";
  const listener = createConsole({
    transport,
    isTrustedProxy,
    logger,
    calls: createConnectHandler(
      { services: forwardServices(transport), interceptors: [], door, gate: createConsoleGate(transport, systemClock) },
      shutdown.signal,
    ),
    surfaces: front.listener,
    files: readPackagedFolder("console/dist"),
    reach: readReach(parts),
    consoleUrl: config.site.address,
    site: await readSite(config),
    facts: {
      publicUrl: `${scheme}://${front.address}`,
      demoAccountId: parts.demoAccountId ?? "",
      version: (JSON.parse(readPackaged("package.json")) as { version: string }).version,
    },
  });
  const server = await startHttpServer(listener, parts.address, {
    door,
    tls,
    ...requestPatience(config.http),
    answerMalformed: front.answerMalformed,
    toClient: (request) => clientAddress(request, isTrustedProxy),
    setting: "listen.console",
  });
  lifecycle.onStop("the console", (graceMs) => {
    // Pages watch for as long as they are open: their streams end at once, and they call again.
    shutdown.abort(failure(Reason.SHUTTING_DOWN, "The service is shutting down."));
    return server.close(graceMs);
  });
  return { address: server.address, url: server.url };
}

/**
 * Serves the console of `serve`, even when it is not configured. In that case it is left out when its usual port is
 * taken, so that the service starts although another process has that port.
 */
export async function openConsole(parts: Omit<Dependencies, "address">): Promise<RunningConsole | undefined> {
  const { listen } = parts.config;
  const address = consoleAddress(listen);
  try {
    return await startConsole({ ...parts, address });
  } catch (error) {
    const { code } = ((error as Error | undefined)?.cause ?? {}) as { code?: string };
    if (listen.console !== undefined || code !== "EADDRINUSE") {
      throw error;
    }
    parts.logger.warn({ address }, "there is no console: its usual port is taken; set listen.console");
    return undefined;
  }
}

function readReach({ address, tls }: Pick<Dependencies, "address" | "tls">): Reach {
  if (tls !== undefined) {
    return "tls";
  }
  return isLoopback(parseAddress(address)?.host ?? "") ? "loopback" : "insecure";
}
