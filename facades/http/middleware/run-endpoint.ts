import type { ServerResponse } from "node:http";
import { RequestError } from "../request/error.ts";
import { type Choose, unknownPath } from "../routing/choose-surface.ts";
import type { Routes } from "../routing/routes.ts";
import type { Surface } from "../routing/surface.ts";
import type { Layer } from "./layer.ts";

/** The innermost layer: finds the endpoint and runs it. Throws a RequestError where there is none. */
export function runEndpoint(routes: Routes, choose: Choose): Layer {
  return (context) => {
    const { method, path, exchange } = context;
    const found = routes.find(method, path);
    if (found === undefined) {
      throw unmatched(choose(context.req), context.res, method, path, routes.methodsOf(path));
    }
    context.found = found;
    return found.route.handle(exchange, found.params);
  };
}

/** The error for a path without an endpoint, or without one for this method. */
function unmatched(
  surface: Surface,
  response: ServerResponse,
  method: string,
  path: string,
  allowed: readonly string[],
): RequestError {
  if (allowed.length === 0) {
    return new RequestError(404, unknownPath(surface, method, path));
  }
  const list = allowed.join(", ");
  response.setHeader("allow", list);
  return new RequestError(405, `${path} takes ${list}, not ${method}.`);
}
