import type { IncomingMessage } from "node:http";
import type { DescMessage, DescMethod, MessageShape } from "@bufbuild/protobuf";
import { detailOf } from "../../../lib/errors/detail.ts";
import type { Core } from "../core/core.ts";
import type { Exchange } from "../exchange.ts";
import { jsonDecoder } from "../json/decoder.ts";
import { readJson } from "../request/body.ts";
import type { KeyHeader } from "../request/credentials.ts";
import { RequestError } from "../request/error.ts";
import { queryReader } from "../request/query.ts";
import type { Route, Routes } from "./routes.ts";

/** A table of routes, as the plugin generates it for a service. */
export type RouteTable = Readonly<
  Record<string, { readonly verb: "GET" | "POST"; readonly path: string; readonly method: DescMethod }>
>;

/** What answers each route of a table: it gets the request's message and sends the response, or throws. */
export type Handlers<Routes extends RouteTable> = {
  readonly [Name in keyof Routes]: (
    request: MessageShape<Routes[Name]["method"]["input"]>,
    exchange: Exchange,
  ) => Promise<void>;
};

/** An error as a surface answers it. */
export interface ErrorAnswer {
  readonly status: number;
  /** The body as JSON text. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A public surface: its endpoints, and its shape of errors. */
export interface Surface {
  readonly endpoints: readonly Route[];
  /** Answers whatever was thrown: a RequestError, an error of the core, or a bug. */
  readonly errorOf: (error: unknown, requestId: string) => ErrorAnswer;
}

/** Makes a surface of a generated route table and what answers each route. */
export function createSurface<Routes extends RouteTable>(options: {
  readonly core: Core;
  readonly routes: Routes;
  readonly handlers: Handlers<Routes>;
  readonly errorOf: Surface["errorOf"];
  /** Which header has the key when both do, as this surface's clients mean it. */
  readonly keyHeader: KeyHeader;
}): Surface {
  const { core, routes, handlers, errorOf, keyHeader } = options;
  const endpoints = Object.entries(routes).map(([name, { verb, path, method }]): Route => {
    const handler = handlers[name as keyof Routes] as (request: unknown, exchange: Exchange) => Promise<void>;
    const read = verb === "GET" ? readerOfPath(method.input) : readerOfBody(core, method.input);
    const handle: Route["handle"] = async (exchange, params) => {
      exchange.keyHeader = keyHeader;
      try {
        await handler(await read(exchange, params), exchange);
      } catch (error) {
        answerError(errorOf, exchange, verb === "POST" ? await firstError(core, exchange, error) : error);
      }
    };
    return { verb, path: path.replace(/\{(\w+)=\*\*\}/g, "*$1"), handle };
  });
  return { endpoints, errorOf };
}

/** Registers the endpoints of all surfaces. Where two have the same one, the headers choose. */
export function mountRoutes(
  routes: Routes,
  surfaces: readonly Surface[],
  choose: (request: IncomingMessage) => Surface,
): void {
  const shared = new Map<string, Map<Surface, Route>>();
  for (const surface of surfaces) {
    for (const endpoint of surface.endpoints) {
      const key = `${endpoint.verb} ${endpoint.path}`;
      shared.set(key, (shared.get(key) ?? new Map()).set(surface, endpoint));
    }
  }
  for (const choices of shared.values()) {
    const [first] = choices.values();
    if (first === undefined) continue;
    const handle: Route["handle"] = (exchange, params) => {
      exchange.route = first.path;
      const endpoint = choices.size === 1 ? first : (choices.get(choose(exchange.request)) ?? first);
      return endpoint.handle(exchange, params);
    };
    routes.add({ verb: first.verb, path: first.path, handle });
  }
}

/** Answers an error in the surface's shape. Logs it when it is a bug: an error that nobody meant. */
export function answerError(errorOf: Surface["errorOf"], exchange: Exchange, error: unknown): void {
  if (exchange.isGone) return;
  const { status, body, headers } = errorOf(error, exchange.requestId);
  exchange.rateLimit ??= detailOf(error)?.rateLimit;
  if (status === 500) exchange.logUnexpected(error);
  if (exchange.response.headersSent) exchange.response.destroy();
  else exchange.send(status, body, headers);
}

/**
 * The key and the rate limit come before the body: a body that this surface refuses is counted first,
 * and what the core says to that wins. The size of the body comes before both.
 */
async function firstError(core: Core, exchange: Exchange, error: unknown): Promise<unknown> {
  if (!(error instanceof RequestError) || error.status === 413 || !exchange.request.complete) return error;
  try {
    const { rateLimit } = await core.metering.countRequest({}, exchange.callOptions);
    exchange.rateLimit = rateLimit;
    return error;
  } catch (earlier) {
    return earlier;
  }
}

function readerOfBody(core: Core, input: DescMessage): (exchange: Exchange) => Promise<unknown> {
  const decode = jsonDecoder(input);
  return async (exchange) => {
    const identify = async () => (await core.accounts.identifyCaller({}, exchange.callOptions)).accountId;
    return decode(await readJson(exchange, identify));
  };
}

function readerOfPath(input: DescMessage): (exchange: Exchange, params: Readonly<Record<string, string>>) => unknown {
  const read = queryReader(input);
  return (exchange, params) => {
    const url = exchange.request.url ?? "";
    const query = url.indexOf("?");
    return read(new URLSearchParams(query === -1 ? "" : url.slice(query)), params);
  };
}
