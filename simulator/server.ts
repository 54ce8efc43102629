import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Exchange, Host } from "./dialects/dialect.ts";
import { dialects } from "./dialects/dialects.ts";
import { Model } from "./engine/model.ts";
import { EngineError } from "./engine-error.ts";
import { FaultPanel } from "./faults.ts";
import { readBody } from "./http/body.ts";
import { formatMetrics, type ModelMetrics } from "./http/metrics.ts";
import { sendError } from "./http/reply.ts";
import { listRoutes } from "./http/routes.ts";
import { type SimulatorOptions, settle } from "./options.ts";

/** A simulated inference server that is listening. */
export interface Simulator {
  /** A URL such as `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
  /** The ids of its models. */
  readonly models: readonly string[];
  /** The load and the work of a model. Default: the first model. */
  metrics(model?: string): ModelMetrics;
  /** Faults that can be switched on and off while it runs. */
  readonly faults: FaultPanel;
  /** Stops at once. Open connections break, as when a server dies. */
  close(): Promise<void>;
}

/** Starts a simulated inference server. Rejects when the port is taken or a model does not fit its GPU. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const settings = settle(options);
  const { clock, speed } = settings;
  const models = new Map(
    settings.models.map(({ traits, gpu }) => [traits.id, new Model(traits, gpu, speed, clock)] as const),
  );
  const faults = new FaultPanel();
  if (settings.fault !== undefined) {
    faults.add(settings.fault);
  }
  const server = createServer({ keepAliveTimeout: 60_000 });
  const stop = (): Promise<void> => {
    for (const { scheduler } of models.values()) {
      scheduler.close();
    }
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    return closed;
  };
  const host: Host = { settings, dialect: dialects[settings.dialect], models, faults, die: () => void stop() };
  server.on("request", answerer(host));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(settings.port, settings.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${settings.host.includes(":") ? `[${settings.host}]` : settings.host}:${port}`,
    port,
    models: [...models.keys()],
    faults,
    metrics(id = models.keys().next().value ?? "") {
      const model = models.get(id);
      if (model === undefined) {
        throw new Error(`no model ${id}`);
      }
      return formatMetrics(model);
    },
    close: stop,
  };
}

function answerer(host: Host): (request: IncomingMessage, response: ServerResponse) => void {
  const { dialect, settings } = host;
  const routes = new Map(Object.entries(listRoutes(dialect, settings.setup)));
  const loadedAt = settings.clock.monotonic() + settings.loading;
  const authorization = settings.apiKey === undefined ? undefined : `Bearer ${settings.apiKey}`;
  const refusal = (request: IncomingMessage, path: string): EngineError | undefined => {
    const isOpen = !path.startsWith("/v1") || authorization === undefined;
    if (!isOpen && request.headers.authorization !== authorization) {
      return new EngineError(401, "Unauthorized");
    }
    return settings.loading > 0 && settings.clock.monotonic() < loadedAt ? dialect.loading() : undefined;
  };
  return (request, response) => {
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    const guard = (action: () => void) => {
      try {
        action();
      } catch (error) {
        sendError(response, dialect, error, path);
      }
    };
    readBody(request, (body) => {
      guard(() => {
        const route = routes.get(`${request.method} ${path}`);
        if (route === undefined) {
          throw new EngineError(404, "Not Found");
        }
        const refused = refusal(request, path);
        if (refused !== undefined || body instanceof EngineError) {
          throw refused ?? body;
        }
        const exchange: Exchange = { host, request, response, path, body, guard };
        route(exchange);
      });
    });
  };
}
