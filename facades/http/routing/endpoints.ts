import type { DescMessage, DescMethod, MessageShape } from "@bufbuild/protobuf";
import type { PublicSurface } from "../../../lib/surface-names.ts";
import type { CoreClients } from "../core/core-clients.ts";
import type { Exchange } from "../exchange.ts";
import { jsonDecoder } from "../json/decoder.ts";
import { readJson } from "../request/body.ts";
import type { KeyHeader } from "../request/credentials.ts";
import { RequestError } from "../request/error.ts";
import { queryReader } from "../request/query.ts";
import type { Endpoint } from "./surface.ts";

/** A table of routes, as the plugin generates it for a service. */
export type RouteTable = Readonly<
  Record<string, { readonly verb: "GET" | "POST"; readonly path: string; readonly method: DescMethod }>
>;

/** The handlers of a table's routes: each gets the request's message and sends the response, or throws. */
export type Handlers<Table extends RouteTable> = {
  readonly [Name in keyof Table]: (
    request: MessageShape<Table[Name]["method"]["input"]>,
    exchange: Exchange,
  ) => Promise<void>;
};

/** Makes endpoints of a generated route table and what answers each route. They throw what they cannot answer. */
export function createEndpoints<Table extends RouteTable>(options: {
  readonly core: CoreClients;
  readonly routes: Table;
  readonly handlers: Handlers<Table>;
  /** Which header has the key when both do, as this surface's clients mean it. */
  readonly keyHeader: KeyHeader;
  /** The surface's name, which the core notes of each request. */
  readonly surface: PublicSurface;
}): Endpoint[] {
  const { core, routes, handlers, keyHeader, surface } = options;
  return Object.entries(routes).map(([name, { verb, path, method }]): Endpoint => {
    const handler = handlers[name as keyof Table] as (request: unknown, exchange: Exchange) => Promise<void>;
    const read = verb === "GET" ? readerOfPath(method.input) : readerOfBody(core, method.input);
    const handle: Endpoint["handle"] = async (exchange, params) => {
      exchange.keyHeader = keyHeader;
      exchange.surface = surface;
      try {
        const request = read(exchange, params);
        await handler(request instanceof Promise ? await request : request, exchange);
      } catch (error) {
        throw verb === "POST" ? await firstError(core, exchange, error) : error;
      }
    };
    return { verb, path: path.replace(/\{(\w+)=\*\*\}/g, "*$1"), handle };
  });
}

/**
 * The key and the rate limit come before the body: a body that this surface refuses is counted first,
 * and what the core says to that wins. The size of the body comes before both.
 */
async function firstError(core: CoreClients, exchange: Exchange, error: unknown): Promise<unknown> {
  if (!(error instanceof RequestError) || error.status === 413 || !exchange.request.complete) {
    return error;
  }
  try {
    await core.metering.countRequest({}, exchange.callOptions);
    return error;
  } catch (earlier) {
    return earlier;
  }
}

function readerOfBody(core: CoreClients, input: DescMessage): (exchange: Exchange) => Promise<unknown> {
  const decode = jsonDecoder(input);
  return (exchange) => {
    const identify = async () => (await core.accounts.identifyCaller({}, exchange.callOptions)).accountId;
    return readJson(exchange, identify).then(decode);
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
