import type { Exchange } from "../dialects/dialect.ts";
import type { Model } from "../engine/model.ts";
import { EngineError } from "../engine-error.ts";
import { type Fault, faultInHeader, none } from "../faults.ts";

/** The model that a request names. */
export function findModel({ host, body }: Pick<Exchange, "host" | "body">): Model {
  const { dialect, models } = host;
  const id = typeof body.model === "string" ? body.model : undefined;
  const named = id === undefined ? undefined : models.get(id);
  if (named !== undefined) {
    return named;
  }
  if (id !== undefined && !dialect.anyModelName) {
    throw dialect.unknownModel(id);
  }
  for (const model of models.values()) {
    return model;
  }
  throw new EngineError(404, "No model is loaded.");
}

/** The generation model that a request names. */
export function findGenerator(exchange: Exchange): Model {
  const model = findModel(exchange);
  if (model.traits.kind === "generation") {
    return model;
  }
  throw new EngineError(400, "The model does not support Chat Completions API");
}

/** The embedding model that a request names. */
export function findEmbedder(exchange: Exchange): Model {
  const model = findModel(exchange);
  if (model.traits.kind === "embedding") {
    return model;
  }
  throw new EngineError(400, "The model does not support Embeddings API");
}

/**
 * Starts the work with its faults: standing ones, then those of the `x-sim-fault` header, then those of the prompt. A
 * status fault answers at once; latency comes before everything.
 */
export function underFaults(exchange: Exchange, prompted: Fault, work: (fault: Fault) => void): void {
  const { host, request, response, path, body } = exchange;
  const header = request.headers["x-sim-fault"];
  const standing = host.faults.strike(typeof body.model === "string" ? body.model : undefined, path);
  const sent = typeof header === "string" ? faultInHeader(header) : none;
  const fault = sent === none && prompted === none ? standing : { ...standing, ...sent, ...prompted };
  const start = () => {
    if (response.destroyed) {
      return;
    }
    if (fault.status !== undefined) {
      throw new EngineError(fault.status, `Simulated fault: status ${fault.status}`, { retryAfter: fault.retry });
    }
    work(fault);
  };
  if (fault.latency === undefined) {
    start();
  } else {
    host.settings.clock.after(fault.latency, () => exchange.guard(start));
  }
}
