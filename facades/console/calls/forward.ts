import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl, Transport } from "@connectrpc/connect";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { clientAddressHeader, requestIdHeader } from "#lib/rpc/call-headers.ts";
import { createClient } from "#lib/rpc/client.ts";
import { allowedMethods } from "./allowed-methods.ts";
import { forwardedServices } from "./services.ts";

/** A service and what answers it. */
export interface ForwardedService {
  readonly service: DescService;
  readonly implementation: Partial<ServiceImpl<DescService>>;
}

/** Milliseconds for which a stream runs before its session is checked again. */
const trustMs = 8_000;

/** The paths of all calls that any role may make. */
export const callPaths: ReadonlySet<string> = new Set(
  [...allowedMethods(Role.OWNER), ...allowedMethods("member")].map(pathOf),
);

/** Answers calls of pages by forwarding them to the core, with only the credential, the client's address and the call's id. */
export function forwardServices(transport: Transport): ForwardedService[] {
  return forwardedServices.map((service) => {
    const methods = service.methods.filter((method) => callPaths.has(pathOf(method)));
    return {
      service,
      implementation: Object.fromEntries(
        methods.map((method) => [method.localName, forward(transport, method)]),
      ) as ForwardedService["implementation"],
    };
  });
}

function forward(transport: Transport, method: DescMethod): unknown {
  switch (method.methodKind) {
    case "unary":
      return unary(transport, method as DescMethod & DescMethodUnary);
    case "server_streaming":
      return serverStreaming(transport, method as DescMethod & DescMethodServerStreaming);
    default:
      throw new Error(`${pathOf(method)} streams what browsers cannot send`);
  }
}

function unary(transport: Transport, method: DescMethodUnary) {
  return async (request: Message, context: HandlerContext): Promise<Message> => {
    const { message } = await transport.unary(method, context.signal, undefined, headersOf(context), request);
    return message;
  };
}

function serverStreaming(transport: Transport, method: DescMethodServerStreaming) {
  const sessions = createClient(SessionsService, transport);
  return async function* (request: Message, context: HandlerContext): AsyncGenerator<Message> {
    const headers = headersOf(context);
    const { message } = await transport.stream(method, context.signal, undefined, headers, once(request));
    let judgedAt = performance.now();
    for await (const one of message) {
      // A session may end while a stream runs.
      if (performance.now() - judgedAt > trustMs) {
        judgedAt = performance.now();
        await sessions.getSession({}, { headers, signal: context.signal });
      }
      yield one;
    }
  };
}

async function* once<M>(message: M): AsyncGenerator<M> {
  yield message;
}

function headersOf({ requestHeader }: HandlerContext): Record<string, string> {
  const names = ["authorization", clientAddressHeader, requestIdHeader];
  const found = names.map((name): [string, string | null] => [name, requestHeader.get(name)]);
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== null));
}

function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}
