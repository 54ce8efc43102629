import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener } from "node:http";
import type { Transport } from "@connectrpc/connect";
import { Router, type RouterContext } from "@koa/router";
import Koa from "koa";
import { createChatSurface } from "./chat/app.ts";
import { BodyBudget } from "./http/body-budget.ts";
import { createCore } from "./http/core.ts";
import { isMessagesStyle } from "./http/credentials.ts";
import { Exchange } from "./http/exchange.ts";
import { answerError, mountRoutes, type Surface } from "./http/mount-routes.ts";
import { drain } from "./http/request-body.ts";
import { RequestError } from "./http/request-error.ts";
import type { Runtime } from "./http/runtime.ts";
import { isChatPath, isMessagesPath, unknownPath } from "./http/unavailable.ts";
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

  const router = new Router();
  mountRoutes(router, [chat, messages], choose, exchangeOf);
  const document = readFileSync(new URL("../gen/openapi.json", import.meta.url), "utf8");
  router.get("/openapi.json", (context) => exchangeOf(context).send(200, document));
  router.get("/", (context) => exchangeOf(context).send(200, '{"name":"tollgate","openapi":"/openapi.json"}'));

  const bodyBudget = new BodyBudget(options.bodyMemory ?? 256 * 1024 * 1024);
  const app = new Koa();
  app.silent = true; // what koa tells is that a client is gone
  const routes = router.routes();
  app.use((context) => {
    // The exchange writes the response itself: once, with all of its headers.
    context.respond = false;
    const exchange = new Exchange(context.req, context.res, options, bodyBudget);
    context.state.exchange = exchange;
    return routes(context as unknown as RouterContext, async () => {
      await drain(exchange.request, options.clock);
      answerError(choose(exchange.request).errorOf, exchange, unmatched(context as unknown as RouterContext));
    });
  });
  return app.callback();
}

/** The path chooses the surface; where both have it, or neither, the headers do. */
function wantsMessages(request: IncomingMessage): boolean {
  const path = request.url?.split("?", 1)[0] ?? "";
  return isMessagesPath(path) || (!isChatPath(path) && isMessagesStyle(request));
}

/** No endpoint has this path, or none of those that have it takes this method. */
function unmatched({ matched, method, path, res }: RouterContext): RequestError {
  const allowed = new Set(matched?.flatMap((layer) => layer.methods).sort());
  if (allowed.size === 0) return new RequestError(404, unknownPath(method, path));
  const list = [...allowed].join(", ");
  res.setHeader("allow", list);
  return new RequestError(405, `${path} takes ${list}, not ${method}.`);
}

function exchangeOf(context: object): Exchange {
  return (context as Koa.Context).state.exchange;
}
