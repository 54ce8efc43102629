import { type Layer, Router } from "@koa/router";
import type { Choose } from "./choose-surface.ts";
import type { Endpoint } from "./surface.ts";

/** An endpoint in the router. */
export interface Route extends Endpoint {
  /** Chooses the surface of a request. Undefined: the endpoint belongs to no surface. */
  readonly surface?: Choose;
}

/** A route that was found, and the named parts of the path. */
export interface FoundRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Finds routes. It uses the router's matching but not its middleware, which composes a chain for each request and
 * writes a dozen properties to its context.
 */
export class Routes {
  /** A path is itself alone: neither in other letters nor with a slash at its end. */
  readonly #router = new Router({ sensitive: true, strict: true });
  readonly #routes = new Map<Layer, Route>();
  /** Found routes for literal paths of the table, by method and path: never more than there are routes. */
  readonly #found = new Map<string, FoundRoute>();
  readonly #literal = new Set<string>();

  add(route: Route): void {
    this.#found.clear();
    if (!/[:*{(]/.test(route.path)) {
      this.#literal.add(`${route.verb} ${route.path}`);
    }
    this.#routes.set(this.#router.register(route.path, [route.verb], []) as Layer, route);
  }

  /** The route for a method and a path. Undefined: there is none. */
  find(method: string, path: string): FoundRoute | undefined {
    const key = `${method} ${path}`;
    return this.#found.get(key) ?? this.#match(method, path, key);
  }

  #match(method: string, path: string, key: string): FoundRoute | undefined {
    const [layer] = this.#router.match(path, method).pathAndMethod;
    const route = layer && this.#routes.get(layer);
    const found = route && { route, params: layer.params(path, layer.captures(path)) };
    if (found !== undefined && this.#literal.has(key)) {
      this.#found.set(key, found);
    }
    return found;
  }

  /** The methods that a path accepts. */
  methodsOf(path: string): string[] {
    const methods = this.#router.match(path, "").path.flatMap((layer) => layer.methods);
    return [...new Set(methods.sort())];
  }
}
