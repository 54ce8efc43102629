import { type Layer, Router } from "@koa/router";
import type { Choose } from "./choose-surface.ts";
import type { Endpoint } from "./surface.ts";

/** An endpoint where the router finds it. */
export interface Route extends Endpoint {
  /** Whose endpoint it is for a request. Undefined: no surface's. */
  readonly surface?: Choose;
}

/** A route that was found, and the parts of the path that have a name. */
export interface FoundRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Finds routes. The router's matching is used, but not its middleware, which composes a chain for each
 * request and writes a dozen properties to its context.
 */
export class Routes {
  readonly #router = new Router();
  readonly #routes = new Map<Layer, Route>();

  add(route: Route): void {
    this.#routes.set(this.#router.register(route.path, [route.verb], []) as Layer, route);
  }

  /** The route of a method and a path. Undefined: none that has the path takes the method. */
  find(method: string, path: string): FoundRoute | undefined {
    const [layer] = this.#router.match(path, method).pathAndMethod;
    const route = layer && this.#routes.get(layer);
    return route && { route, params: layer.params(path, layer.captures(path)) };
  }

  /** The methods that a path takes. */
  methodsOf(path: string): string[] {
    const methods = this.#router.match(path, "").path.flatMap((layer) => layer.methods);
    return [...new Set(methods.sort())];
  }
}
