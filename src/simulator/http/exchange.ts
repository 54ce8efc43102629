import type { Exchange } from "../dialects/dialect.ts";
import type { Model } from "../engine/model.ts";
import { EngineError } from "../engine-error.ts";
import { type Fault, faultInHeader, none } from "../faults.ts";

/** The model that a request names; a server with one model need not be told. */
export function modelOf({ host, body }: Pick<Exchange, "host" | "body">): Model {
  const { models } = host;
  if (typeof body.model === "string") {
    const model = models.get(body.model);
    if (model !== undefined) return model;
    throw new EngineError(404, `The model \`${body.model}\` does not exist.`, {
      type: "NotFoundError",
      param: "model",
    });
  }
  for (const model of models.values()) return model;
  throw new EngineError(404, "No model is loaded.");
}

/** What goes wrong with this request: standing faults, then the header, then the prompt. */
export function faultsOf({ host, request, path, body }: Exchange, prompted: Fault): Fault {
  const header = request.headers["x-sim-fault"];
  const standing = host.faults.strike(typeof body.model === "string" ? body.model : undefined, path);
  const sent = typeof header === "string" ? faultInHeader(header) : undefined;
  return sent === undefined && prompted === none ? standing : { ...standing, ...sent, ...prompted };
}
