import type { DescMethodStreaming, DescMethodUnary, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextValues,
  createServiceImplSpec,
  type HandlerContext,
  type Interceptor,
  type MethodImplSpec,
  type StreamRequest,
  type StreamResponse,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import { createMethodUrl } from "@connectrpc/connect/protocol";
import { applyInterceptors, type Next } from "./apply-interceptors.ts";
import { CallHeaders } from "./messages/call-headers.ts";
import { OneMessage, onlyMessage } from "./messages/request-messages.ts";
import type { ServiceRegistration } from "./server/registration.ts";

type Request = UnaryRequest | StreamRequest;

/** A method of a registered service, with everything that all of its calls share. */
export interface ServedMethod {
  readonly spec: MethodImplSpec;
  readonly url: string;
  /** The first one is the outermost. */
  readonly interceptors: readonly Interceptor[];
}

/** What a handler gets of a call. */
export interface CallInit {
  readonly protocolName: string;
  readonly header: Headers;
  readonly values: ContextValues;
  readonly signal: AbortSignal;
  /** The call's deadline, in milliseconds since the Unix epoch. Undefined: none. */
  readonly deadline: number | undefined;
}

/** All methods of a service. */
export function servedMethods(
  { service, implementation }: ServiceRegistration,
  interceptors: readonly Interceptor[],
): ServedMethod[] {
  return Object.values(createServiceImplSpec(service, implementation).methods).map((spec) => ({
    spec,
    url: createMethodUrl("http://core", spec.method),
    interceptors,
  }));
}

/** Runs a unary method: the interceptors, then the implementation. */
export function invokeUnary(served: ServedMethod, init: CallInit, message: Message): Promise<UnaryResponse> {
  const method = served.spec.method as DescMethodUnary;
  return chain(served, init)({ stream: false, method, message, ...common(served, init) }) as Promise<UnaryResponse>;
}

/**
 * Runs a streaming method. Its messages come as the implementation yields them, perhaps partial. Consumers complete
 * them with `create`, which saves a promise for each message here.
 */
export function invokeStream(
  served: ServedMethod,
  init: CallInit,
  message: AsyncIterable<Message>,
): Promise<StreamResponse> {
  const method = served.spec.method as DescMethodStreaming;
  return chain(served, init)({ stream: true, method, message, ...common(served, init) }) as Promise<StreamResponse>;
}

function chain({ spec, interceptors, url }: ServedMethod, init: CallInit): Next {
  const context = toContext(spec, url, init);
  return applyInterceptors(interceptors, (request) => implement(spec, seenBy(request, context), request));
}

function common({ spec, url }: ServedMethod, { signal, header, values }: CallInit) {
  return { service: spec.method.parent, requestMethod: "POST", url, signal, header, contextValues: values };
}

function toContext({ method }: MethodImplSpec, url: string, init: CallInit): HandlerContext {
  const { deadline } = init;
  return {
    service: method.parent,
    method,
    requestMethod: "POST",
    url,
    protocolName: init.protocolName,
    signal: init.signal,
    timeoutMs: () => (deadline === undefined ? undefined : deadline - Date.now()),
    requestHeader: init.header,
    responseHeader: new CallHeaders(),
    responseTrailer: new CallHeaders(),
    values: init.values,
  };
}

/** The context after the interceptors, which may have replaced values of the request. */
function seenBy(request: Request, context: HandlerContext): HandlerContext {
  const { header: requestHeader, signal, contextValues: values } = request;
  if (requestHeader === context.requestHeader && signal === context.signal && values === context.values) {
    return context;
  }
  return { ...context, requestHeader, signal, values };
}

async function implement(
  spec: MethodImplSpec,
  context: HandlerContext,
  request: Request,
): Promise<UnaryResponse | StreamResponse> {
  const { method } = spec;
  const response = {
    service: method.parent,
    header: context.responseHeader,
    trailer: context.responseTrailer,
  };
  switch (spec.kind) {
    case "unary": {
      const message = await spec.impl(request.message as Message, context);
      return { ...response, stream: false, method: spec.method, message: message as Message };
    }
    case "server_streaming": {
      const { message: messages } = request;
      const only =
        messages instanceof OneMessage ? messages.message : await onlyMessage(messages as AsyncIterable<Message>);
      const message = spec.impl(only, context);
      return { ...response, stream: true, method: spec.method, message: message as AsyncIterable<Message> };
    }
    case "client_streaming":
      throw new ConnectError("client streaming is not served", Code.Unimplemented);
    case "bidi_streaming": {
      const message = spec.impl(request.message as AsyncIterable<Message>, context);
      return { ...response, stream: true, method: spec.method, message: message as AsyncIterable<Message> };
    }
  }
}
