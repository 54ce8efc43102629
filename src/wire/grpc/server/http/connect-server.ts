import { setMaxListeners } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createConnectRouter,
  createContextValues,
  createServiceImplSpec,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import { type Compression, type UniversalServerRequest, uResponseNotFound } from "@connectrpc/connect/protocol";
import {
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { Door } from "#lib/door/door.ts";
import { noteCounted } from "#lib/door/paced-response.ts";
import { failure } from "#lib/errors/failure.ts";
import { answeredIdHeader, requestIdHeader } from "#lib/rpc/call-headers.ts";
import { hearCall, heardKey, nameCall, requestIdKey } from "../../call-id.ts";
import { longestTimerMs } from "../../call-signal.ts";
import { hangUpKey } from "../../hang-up.ts";
import { maxInflating, maxRequestBytes, maxResponseBytes } from "../../messages/limits.ts";
import { Slots } from "../../messages/slots.ts";
import { explainMessages } from "../../messages/with-reason.ts";
import { mendParseError, mendStreamParseErrors } from "../../workarounds/parse-errors.ts";
import { strictNumbers } from "../../workarounds/strict-numbers.ts";
import { type Gate, listenerKey, openGate, refuse, tooManyCalls } from "../gate.ts";
import type { ListeningServer, ServerOptions } from "../listening-server.ts";
import { withoutUnknown } from "../mount-service.ts";
import { peerKey } from "../peer.ts";
import { Receiving } from "../receiving.ts";
import { watchReading } from "./answer-body.ts";
import { startHttpListener } from "./http-listener.ts";
import { leaveKey, payerKey, readBody } from "./request-body.ts";

/**
 * Serves the Connect protocol, JSON or binary over HTTP/1.1, for curl, browsers and dashboards. Throws when the address
 * cannot be listened on.
 */
export function startConnectServer(options: ServerOptions): Promise<ListeningServer> {
  const { door = new Door({ listener: "connect" }) } = options;
  const shutdown = new AbortController();
  setMaxListeners(0, shutdown.signal); // every running call listens
  return startHttpListener({
    ...options,
    door,
    setting: "listen.connect",
    watchesAnswers: true,
    clients: "certified",
    handler: createConnectHandler({ ...options, door }, shutdown.signal),
    endCalls: (reason) => shutdown.abort(reason),
  });
}

const connectAlone = { grpc: false, grpcWeb: false };

/** The server options that a handler of the Connect protocol needs. */
export type ConnectHandlerOptions = Pick<ServerOptions, "services" | "interceptors" | "gate" | "receiving"> & {
  readonly door: Door;
};

/** Answers calls over the Connect protocol. When the signal aborts, running calls end with its reason. */
export function createConnectHandler(options: ConnectHandlerOptions, shutdownSignal: AbortSignal): RequestListener {
  const { services, interceptors, gate = openGate, receiving = new Receiving(), door } = options;
  const router = createConnectRouter({
    interceptors: [hearCall, mendStreamParseErrors, explainMessages, ...interceptors],
    ...connectAlone,
    acceptCompression: [compressionInTurns()],
    readMaxBytes: maxRequestBytes,
    writeMaxBytes: maxResponseBytes,
    requestGate: (context) => admit(context, gate, interceptors, door),
    shutdownSignal,
  });
  for (const { service, implementation } of services) {
    for (const { method, impl } of Object.values(createServiceImplSpec(service, implementation).methods)) {
      // A misspelt field must not be taken for one that was left out: a key would have no limit, a model no price.
      const jsonOptions = { ...strictNumbers(method), ignoreUnknownFields: false };
      router.rpc(method, impl as never, { ...connectAlone, jsonOptions, binaryOptions: withoutUnknown });
    }
  }
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  // connect-node's own adapter does the same, but writes to standard error whenever a client goes away.
  return async (request: IncomingMessage, response: ServerResponse) => {
    const [path = ""] = request.url?.split("?", 1) ?? [];
    const handler = handlers.get(path);
    try {
      const values = createContextValues()
        .set(peerKey, request.socket.remoteAddress)
        .set(listenerKey, door.name)
        .set(hangUpKey, () => response.destroy());
      const call = universalRequestFromNodeRequest(request, response, undefined, values);
      call.header.set(requestIdHeader, nameCall(call.header, values)); // whoever forwards the call names it the same
      ignoreLongDeadline(call.header);
      response.once("close", () => values.get(leaveKey)());
      const body = readBody(request, values, receiving, door);
      const answer = handler ? await handler({ ...call, body }) : uResponseNotFound;
      if (values.get(payerKey) !== undefined && handler?.service.typeName !== Health.typeName) {
        noteCounted(response);
      }
      const mended = await mendParseError(answer);
      if (handler !== undefined) {
        await tellUnheard(handler, call, mended.status, interceptors);
        response.setHeader(answeredIdHeader, values.get(requestIdKey));
      }
      const owner = () => values.get(payerKey) ?? request.socket.remoteAddress ?? "";
      const read = mended.body && watchReading(mended.body, response, owner, door.unread);
      await universalResponseToNodeResponse({ ...mended, ...(read && { body: read }) }, response);
    } catch {
      response.destroy(); // the client has gone, which the interceptors know, or it never spoke valid HTTP
    }
  };
}

/** Tells the interceptors of a refusal that the library made before they heard of the call, such as of a body that is no JSON. */
async function tellUnheard(
  { method }: { readonly method: DescMethod },
  { header, contextValues = createContextValues(), signal, url }: UniversalServerRequest,
  status: number,
  interceptors: readonly Interceptor[],
): Promise<void> {
  if (status >= 400 && !contextValues.get(heardKey)) {
    const reason = failure(status === 429 ? Reason.REQUEST_TOO_LARGE : Reason.INVALID_ARGUMENT, "It cannot be read.");
    await refuse(interceptors, { method: method as DescMethodUnary, header, contextValues, signal, url }, reason);
  }
}

const deadlineHeader = "connect-timeout-ms";

/** The library would take a deadline beyond the longest time of a timer for one that has passed. */
function ignoreLongDeadline(header: Headers): void {
  const deadline = header.get(deadlineHeader) ?? "";
  if (/^\d{1,10}$/.test(deadline) && Number(deadline) > longestTimerMs) {
    header.delete(deadlineHeader);
  }
}

/** Judges a call by its head. The library calls this before it reads anything else. */
async function admit(
  context: HandlerContext,
  gate: Gate,
  interceptors: readonly Interceptor[],
  door: Door,
): Promise<void> {
  const { method, requestHeader: header, values: contextValues, signal, url } = context;
  try {
    const payer = await gate.admit({ method, header, contextValues });
    const leave = door.begin(payer);
    if (leave === undefined) {
      throw tooManyCalls();
    }
    contextValues.set(payerKey, payer).set(leaveKey, leave);
    if (signal.aborted) {
      leave(); // the client has gone meanwhile
    }
  } catch (error) {
    const call = { method: method as DescMethodUnary, header, contextValues, signal, url };
    throw await refuse(interceptors, call, ConnectError.from(error));
  }
}

/** gzip that inflates a few messages at a time, and answers invalid gzip data with an error. */
function compressionInTurns(): Compression {
  const slots = new Slots(maxInflating);
  return { ...compressionGzip, decompress: (bytes, maxBytes) => slots.use(() => inflate(bytes, maxBytes)) };
}

async function inflate(bytes: Uint8Array, maxOutputLength: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await gunzipAsync(bytes, { maxOutputLength }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      throw new ConnectError(`A message may inflate to ${maxOutputLength} bytes.`, Code.ResourceExhausted);
    }
    throw new ConnectError("The request message cannot be inflated.", Code.InvalidArgument);
  }
}

const gunzipAsync = promisify(gunzip);
