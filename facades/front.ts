import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener } from "node:http";
import type { ConnectError, Transport } from "@connectrpc/connect";
import Koa from "koa";
import { newRequestId } from "../lib/ids/request-id.ts";
import type { Overload } from "../lib/overload/monitor.ts";
import { createChatSurface } from "./chat/surface.ts";
import { checkHead } from "./http/connection/check-head.ts";
import type { AnswerMalformed } from "./http/connection/malformed.ts";
import { ProxiedRequests } from "./http/connection/proxied-requests.ts";
import { createCore } from "./http/core/core.ts";
import { Exchange } from "./http/exchange.ts";
import { overloaded } from "./http/overloaded.ts";
import { drain } from "./http/request/body.ts";
import { BodyBudget } from "./http/request/body-budget.ts";
import { BodyPace } from "./http/request/body-pace.ts";
import { isMessagesStyle } from "./http/request/credentials.ts";
import { RequestError } from "./http/request/error.ts";
import { hasBody } from "./http/request/has-body.ts";
import { answerError, mountRoutes, type Surface } from "./http/routing/mount-routes.ts";
import { Routes } from "./http/routing/routes.ts";
import { isChatPath, isMessagesPath, unknownPath } from "./http/routing/unavailable.ts";
import type { ExchangeObserver, Runtime } from "./http/runtime.ts";
import { createMessagesSurface } from "./messages/surface.ts";

/** What the front needs. */
export interface FrontOptions extends Runtime {
  /** The way to the core: in process, or over gRPC. */
  readonly transport: Transport;
  /** Whether this process has more work than it can bear. */
  readonly overload: Overload;
  readonly limits: FrontLimits;
}

/** Bounds of what clients may cost before their requests are run. */
export interface FrontLimits {
  /** Bytes of request bodies that are received at the same time, all together. */
  readonly bodyMemory: number;
  /** Bytes a second that a body has to come with, after a grace. */
  readonly minBodyRate: number;
  /** Requests that one client behind a trusted proxy may have under way. */
  readonly requestsPerAddress: number;
}

/** Both public surfaces on one address. */
export interface Front {
  /** For an HTTP server. */
  readonly listener: RequestListener;
  readonly answerMalformed: AnswerMalformed;
}

/** Seconds after which a request that was shed may come again. */
const retryShedAfter = 5;

/** Puts both public surfaces on one address. */
export function createFront(options: FrontOptions): Front {
  const { clock, overload, limits, observer, random } = options;
  const core = createCore(options.transport);
  const chat = createChatSurface(core);
  const messages = createMessagesSurface(core);
  const choose = (request: IncomingMessage): Surface =>
    wantsMessages(request.url ?? "", isMessagesStyle(request)) ? messages : chat;

  const routes = new Routes();
  mountRoutes(routes, [chat, messages], choose);
  const document = readFileSync(new URL("../gen/openapi.json", import.meta.url), "utf8");
  routes.add({ verb: "GET", path: "/openapi.json", handle: (exchange) => exchange.send(200, document) });
  const greeting = '{"name":"tollgate","openapi":"/openapi.json"}';
  routes.add({ verb: "GET", path: "/", handle: (exchange) => exchange.send(200, greeting) });

  const bodyLimits = {
    budget: new BodyBudget(limits.bodyMemory),
    pace: new BodyPace(clock, limits.minBodyRate),
  };
  const proxied = new ProxiedRequests(limits.requestsPerAddress, options.isTrustedProxy);
  const app = new Koa();
  app.silent = true; // what koa tells is that a client is gone
  app.use(async (context) => {
    // The exchange writes the response itself: once, with all of its headers.
    context.respond = false;
    const { req: request, res: response, method, path } = context;
    const exchange = new Exchange(request, response, options, bodyLimits);
    const found = routes.find(method, path);
    try {
      checkHead(request, response);
      if (overload.shortage !== undefined && path !== "/") throw shed(observer);
      proxied.admit(exchange);
      if (found === undefined) throw unmatched(exchange, method, path, routes.methodsOf(path));
    } catch (error) {
      if (hasBody(request)) await drain(request, clock).catch(() => {});
      return answerError(choose(request).errorOf, exchange, error);
    }
    await found.route.handle(exchange, found.params);
  });
  return {
    listener: app.callback(),
    answerMalformed(error, head) {
      observer.opened();
      observer.closed(error.status, false);
      const requestId = newRequestId(random);
      const [, url = ""] = /^[A-Z]+ (\S+) HTTP\//.exec(head) ?? [];
      const surface = wantsMessages(url, /^(anthropic-version|x-api-key):/im.test(head)) ? messages : chat;
      const { status, body, headers } = surface.errorOf(error, requestId);
      return { status, body, headers: { ...headers, "x-request-id": requestId, "request-id": requestId } };
    },
  };
}

/** A request that is not run because the process has too much to do. */
function shed(observer: ExchangeObserver): ConnectError {
  observer.refused("overload");
  return overloaded("The service has more work than it can do at the moment.", retryShedAfter);
}

/** The path chooses the surface; where both have it, or neither, the headers do. */
function wantsMessages(url: string, isMessagesStyle: boolean): boolean {
  const [path = ""] = url.split("?", 1);
  return isMessagesPath(path) || (!isChatPath(path) && isMessagesStyle);
}

/** No endpoint has this path, or none of those that have it takes this method. */
function unmatched({ response }: Exchange, method: string, path: string, allowed: readonly string[]): RequestError {
  if (allowed.length === 0) return new RequestError(404, unknownPath(method, path));
  const list = allowed.join(", ");
  response.setHeader("allow", list);
  return new RequestError(405, `${path} takes ${list}, not ${method}.`);
}
