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
import { WholeAnswer } from "#lib/rpc/whole-answer.ts";
import { applyInterceptors, type Next } from "./apply-interceptors.ts";
import { hearCall } from "./call-id.ts";
import { CallHeaders } from "./messages/call-headers.ts";
import { OneMessage, onlyMessage } from "./messages/request-messages.ts";
import type { ServiceRegistration } from "./server/registration.ts";

/** A method of a registered service, with everything that all of its calls share. */
export interface ServedMethod {
  readonly spec: MethodImplSpec;
  readonly url: string;
  /** The first one is the outermost. */
  readonly interceptors: readonly Interceptor[];
  /** The interceptors, then the implementation. */
  readonly run: Next;
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

/** A call as the interceptors see it: they may replace any part but its origin. */
type Request = (UnaryRequest | StreamRequest) & { readonly origin: CallInit };

/** All methods of a service. */
export function servedMethods(
  { service, implementation }: ServiceRegistration,
  interceptors: readonly Interceptor[],
): ServedMethod[] {
  return Object.values(createServiceImplSpec(service, implementation).methods).map((spec) => ({
    spec,
    url: createMethodUrl("http://core", spec.method),
    interceptors,
    run: applyInterceptors([hearCall, ...interceptors], (request) => implement(spec, request as Request)),
  }));
}

/** Runs a unary method: the interceptors, then the implementation. */
export function invokeUnary(
  { spec, url, run }: ServedMethod,
  init: CallInit,
  message: Message,
): Promise<UnaryResponse> {
  const method = spec.method as DescMethodUnary;
  const request: Request = { stream: false, method, message, ...common(spec, url, init) };
  return run(request) as Promise<UnaryResponse>;
}

/**
 * Runs a streaming method. Its messages come as the implementation yields them, perhaps partial. Consumers complete
 * them with `create`, which saves a promise for each message here.
 */
export function invokeStream(
  { spec, url, run }: ServedMethod,
  init: CallInit,
  message: AsyncIterable<Message>,
): Promise<StreamResponse> {
  const method = spec.method as DescMethodStreaming;
  const request: Request = { stream: true, method, message, ...common(spec, url, init) };
  return run(request) as Promise<StreamResponse>;
}

function common({ method }: MethodImplSpec, url: string, origin: CallInit) {
  const { signal, header, values: contextValues } = origin;
  return { service: method.parent, requestMethod: "POST", url, signal, header, contextValues, origin };
}

function toContext({ service, method, url, signal, header, contextValues, origin }: Request): HandlerContext {
  const { deadline, protocolName } = origin;
  return {
    service,
    method,
    requestMethod: "POST",
    url,
    protocolName,
    signal,
    timeoutMs: () => (deadline === undefined ? undefined : deadline - Date.now()),
    requestHeader: header,
    responseHeader: new CallHeaders(),
    responseTrailer: new CallHeaders(),
    values: contextValues,
  };
}

async function implement(spec: MethodImplSpec, request: Request): Promise<UnaryResponse | StreamResponse> {
  const context = toContext(request);
  const response = {
    service: context.service,
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
      const answer = spec.impl(only, context) as AsyncIterable<Message>;
      const message = answer instanceof WholeAnswer ? new OneMessage(await answer.make()) : answer;
      return { ...response, stream: true, method: spec.method, message };
    }
    case "client_streaming":
      throw new ConnectError("client streaming is not served", Code.Unimplemented);
    case "bidi_streaming": {
      const message = spec.impl(request.message as AsyncIterable<Message>, context);
      return { ...response, stream: true, method: spec.method, message: message as AsyncIterable<Message> };
    }
  }
}
