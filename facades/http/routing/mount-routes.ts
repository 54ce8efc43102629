import type { Choose } from "./choose-surface.ts";
import type { Route, Routes } from "./routes.ts";
import type { Endpoint, Surface } from "./surface.ts";

/** Registers the endpoints of all surfaces. Where several surfaces have the same endpoint, `choose` decides. */
export function mountRoutes(routes: Routes, surfaces: readonly Surface[], choose: Choose): void {
  const shared = new Map<string, [Surface, Endpoint][]>();
  for (const surface of surfaces) {
    for (const endpoint of surface.endpoints) {
      const key = `${endpoint.verb} ${endpoint.path}`;
      shared.set(key, [...(shared.get(key) ?? []), [surface, endpoint]]);
    }
  }
  for (const choices of shared.values()) {
    routes.add(toRoute(choices, choose));
  }
}

/**
 * The route of an endpoint that one or several surfaces have. The last surface's is used where the chosen surface does
 * not have it.
 */
function toRoute(choices: readonly [Surface, Endpoint][], choose: Choose): Route {
  const [usual, endpoint] = choices.at(-1) as [Surface, Endpoint];
  const { verb, path } = endpoint;
  const endpoints = new Map(choices);
  const pick: Choose = (request) => {
    if (endpoints.size === 1) {
      return usual;
    }
    const chosen = choose(request);
    return endpoints.has(chosen) ? chosen : usual;
  };
  const handle: Route["handle"] = (exchange, params) => {
    exchange.route = path;
    return (endpoints.get(pick(exchange.request)) ?? endpoint).handle(exchange, params);
  };
  return { verb, path, surface: pick, handle };
}
