import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener } from "node:http";
import type { Transport } from "@connectrpc/connect";
import Koa from "koa";
import { createChatSurface } from "./chat/app.ts";
import { createCore } from "./http/core/core.ts";
import { Exchange } from "./http/exchange.ts";
import { drain } from "./http/request/body.ts";
import { BodyBudget } from "./http/request/body-budget.ts";
import { isMessagesStyle } from "./http/request/credentials.ts";
import { RequestError } from "./http/request/error.ts";
import { answerError, mountRoutes, type Surface } from "./http/routing/mount-routes.ts";
import { Routes } from "./http/routing/routes.ts";
import { isChatPath, isMessagesPath, unknownPath } from "./http/routing/unavailable.ts";
import type { Runtime } from "./http/runtime.ts";
import { createMessagesSurface } from "./messages/app.ts";

/** What the front needs. */
export interface FrontOptions extends Runtime {
  /** The way to the core: in process, or over gRPC. */
  readonly transport: Transport;
  /** Bytes of request bodies that are received at the same time, all together. Default: 256 MiB. */
  readonly bodyMemory?: number;
}

/** Both public surfaces on one address, as a listener for an HTTP server. */
export function createFront(options: FrontOptions): RequestListener {
  const core = createCore(options.transport);
  const chat = createChatSurface(core);
  const messages = createMessagesSurface(core);
  const choose = (request: IncomingMessage): Surface => (wantsMessages(request) ? messages : chat);

  const routes = new Routes();
  mountRoutes(routes, [chat, messages], choose);
  const document = readFileSync(new URL("../gen/openapi.json", import.meta.url), "utf8");
  routes.add({ verb: "GET", path: "/openapi.json", handle: (exchange) => exchange.send(200, document) });
  const greeting = '{"name":"tollgate","openapi":"/openapi.json"}';
  routes.add({ verb: "GET", path: "/", handle: (exchange) => exchange.send(200, greeting) });

  const bodyBudget = new BodyBudget(options.bodyMemory ?? 256 * 1024 * 1024);
  const app = new Koa();
  app.silent = true; // what koa tells is that a client is gone
  app.use(async (context) => {
    // The exchange writes the response itself: once, with all of its headers.
    context.respond = false;
    const { req: request, res: response, method, path } = context;
    const exchange = new Exchange(request, response, options, bodyBudget);
    const found = routes.find(method, path);
    if (found !== undefined) return await found.route.handle(exchange, found.params);
    await drain(request, options.clock);
    answerError(choose(request).errorOf, exchange, unmatched(exchange, method, path, routes.methodsOf(path)));
  });
  return app.callback();
}

/** The path chooses the surface; where both have it, or neither, the headers do. */
function wantsMessages(request: IncomingMessage): boolean {
  const path = request.url?.split("?", 1)[0] ?? "";
  return isMessagesPath(path) || (!isChatPath(path) && isMessagesStyle(request));
}

/** No endpoint has this path, or none of those that have it takes this method. */
function unmatched({ response }: Exchange, method: string, path: string, allowed: readonly string[]): RequestError {
  if (allowed.length === 0) return new RequestError(404, unknownPath(method, path));
  const list = allowed.join(", ");
  response.setHeader("allow", list);
  return new RequestError(405, `${path} takes ${list}, not ${method}.`);
}
