import type { RequestListener } from "node:http";
import type { ConnectError, Transport } from "@connectrpc/connect";
import Koa, { type DefaultState } from "koa";
import { Pace } from "#lib/door/counts/pace.ts";
import { unwantedBytesPerSecond } from "#lib/door/drain.ts";
import type { AnswerMalformed } from "#lib/door/malformed.ts";
import { readPackaged } from "#lib/files/assets.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import { UnreadAnswers } from "#lib/net/unread-answers.ts";
import type { Intake } from "#lib/overload/intake.ts";
import type { Overload } from "#lib/overload/monitor.ts";
import { ProxiedRequests } from "./http/connection/proxied-requests.ts";
import { readHead } from "./http/connection/read-head.ts";
import { createCoreClients } from "./http/core/core-clients.ts";
import { type Exchange, healthPath } from "./http/exchange.ts";
import { mountSearchEngines } from "./http/feeds/search-engines.ts";
import { admit } from "./http/middleware/admit.ts";
import { answerErrors } from "./http/middleware/answer-errors.ts";
import { drainRefused } from "./http/middleware/drain-refused.ts";
import type { Shared } from "./http/middleware/layer.ts";
import { openExchange } from "./http/middleware/open-exchange.ts";
import { readTarget } from "./http/middleware/read-target.ts";
import { createRefusalLog } from "./http/middleware/refusal-log.ts";
import { runEndpoint } from "./http/middleware/run-endpoint.ts";
import { BodyBudget } from "./http/request/body-budget.ts";
import { BodyPace } from "./http/request/body-pace.ts";
import { RequestError } from "./http/request/error.ts";
import { createLabelReader, type LabelSource } from "./http/request/labels.ts";
import { type Choose, chooseSurface } from "./http/routing/choose-surface.ts";
import { mountRoutes } from "./http/routing/mount-routes.ts";
import { Routes } from "./http/routing/routes.ts";
import type { Runtime } from "./http/runtime.ts";
import type { SiteFacts } from "./http/site/facts.ts";
import { mountSite } from "./http/site/site.ts";
import { createSurfaces } from "./surfaces.ts";

interface Dependencies extends Runtime {
  /** The transport to the core: in process, or over gRPC. */
  readonly transport: Transport;
  /** Whether this process is overloaded. */
  readonly overload: Overload;
  /** Lets requests begin in their turn. */
  readonly intake: Intake;
  readonly limits: FrontLimits;
  /** The attribution labels that are read from requests. */
  readonly labels: readonly LabelSource[];
  /** What the public pages tell of whoever runs the service. */
  readonly site: SiteFacts;
}

/** Bounds on what clients may cost before their requests run. */
export interface FrontLimits {
  /** The most bytes of all request bodies that are being received. */
  readonly bodyMemory: number;
  /** The most bytes of all answers that wait for their readers. */
  readonly answerMemory: number;
  /** Bytes a second at which a body has to arrive, after a grace period. */
  readonly minBodyRate: number;
  /** The most concurrent requests of one client behind a trusted proxy. */
  readonly requestsPerAddress: number;
}

/** All public surfaces on one address. */
export interface Front {
  /** For an HTTP server. */
  readonly listener: RequestListener;
  readonly answerMalformed: AnswerMalformed;
  /** Ends the running requests with this error, which their clients are told. */
  end(reason: ConnectError): void;
}

/** Creates the front of all public surfaces. */
export function createFront(parts: Dependencies): Front {
  const { clock, overload, intake, limits, observer, random } = parts;
  const core = createCoreClients(parts.transport);
  const surfaces = createSurfaces(core, createLabelReader(parts.labels));
  const choose: Choose = (request) => chooseSurface(surfaces, request);
  const routes = new Routes();
  mountRoutes(routes, surfaces, choose);
  const document = readPackaged("gen/openapi.json");
  routes.add({ verb: "GET", path: "/openapi.json", handle: (exchange) => exchange.send(200, document) });
  routes.add({ verb: "GET", path: healthPath, handle: (exchange) => exchange.sendEmpty() });
  mountSite(routes, core, parts.site);
  mountSearchEngines(routes, core);

  const bodyLimits = {
    budget: new BodyBudget(limits.bodyMemory, () => observer.refused("bodies")),
    pace: new BodyPace(clock, limits.minBodyRate),
    drains: { clock, refused: observer.refused, unwanted: new Pace(unwantedBytesPerSecond, clock) },
    unread: new UnreadAnswers(limits.answerMemory, clock, () => observer.refused("slow_reader")),
  };
  const refusals = createRefusalLog(core, parts.logger, clock);
  const app = new Koa<DefaultState, Shared>();
  app.silent = true; // Koa only reports that a client has gone
  const running = new Set<Exchange>();
  app.use(openExchange(parts, bodyLimits, running));
  app.use(answerErrors(choose, refusals));
  app.use(drainRefused);
  app.use(readTarget);
  app.use(admit(overload, intake, new ProxiedRequests(limits.requestsPerAddress, parts.isTrustedProxy)));
  app.use(runEndpoint(routes, choose));
  return {
    listener: app.callback(),
    answerMalformed({ status: fault, message }, head, network) {
      observer.opened();
      observer.closed(fault, false);
      const error = new RequestError(fault, message);
      const requestId = newRequestId(random);
      const { status, body, headers } = choose(readHead(head)).errorOf(error, requestId);
      refusals.malformed(requestId, status, network);
      return { status, body, headers: { ...headers, "x-request-id": requestId, "request-id": requestId } };
    },
    end(reason) {
      for (const exchange of running) {
        exchange.end(reason);
      }
    },
  };
}
