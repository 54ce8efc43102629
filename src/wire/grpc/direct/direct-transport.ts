import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodStreaming,
  type DescMethodUnary,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createContextValues,
  type Interceptor,
  type StreamResponse,
  type Transport,
  type UnaryResponse,
} from "@connectrpc/connect";
import type { ListenerName } from "#lib/door/bounds.ts";
import { SingleMessage } from "#lib/rpc/single-message.ts";
import { type CallSignal, createCallSignal } from "../call-signal.ts";
import { hangUpKey } from "../hang-up.ts";
import { type CallInit, invokeStream, invokeUnary, type ServedMethod, servedMethods } from "../invoke.ts";
import { CallHeaders, type CallHeadersInit } from "../messages/call-headers.ts";
import { OneMessage, readRequest } from "../messages/request-messages.ts";
import { listenerKey } from "../server/gate.ts";
import type { ServiceRegistration } from "../server/registration.ts";
import { DirectStream } from "./direct-stream.ts";

type HeadersInit = ConstructorParameters<typeof Headers>[0];

/**
 * Calls services in the same process with the semantics of the wire but without serialisation: both sides share the
 * same message objects, and so treat them as immutable. The interceptors are the server's. The first one is the
 * outermost. `listener`: through which the calls came into the process.
 */
export function createDirectTransport(
  services: readonly ServiceRegistration[],
  interceptors: readonly Interceptor[],
  listener: ListenerName = "public",
): Transport {
  const served = new Map<DescMethod, ServedMethod>();
  for (const service of services) {
    for (const method of servedMethods(service, interceptors)) {
      served.set(method.spec.method, method);
    }
  }
  const find = (method: DescMethod): ServedMethod => {
    const found = served.get(method);
    if (!found) {
      throw new ConnectError(`${method.parent.typeName} is not served`, Code.Unimplemented);
    }
    return found;
  };
  return {
    async unary<I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
      signal: AbortSignal | undefined,
      timeoutMs: number | undefined,
      header: HeadersInit | undefined,
      input: MessageInitShape<I>,
    ): Promise<UnaryResponse<I, O>> {
      const called = find(method);
      const { life, init } = start(listener, signal, timeoutMs, header);
      try {
        const response = await untilAborted(life, invokeUnary(called, init, create(method.input, input)));
        // The implementation answered with a message of this method, perhaps a partial one.
        const message = create(method.output, response.message as MessageInitShape<O>);
        return { ...response, method, message };
      } catch (error) {
        throw ConnectError.from(error, Code.Internal);
      } finally {
        life.complete();
      }
    },
    async stream<I extends DescMessage, O extends DescMessage>(
      method: DescMethodStreaming<I, O>,
      signal: AbortSignal | undefined,
      timeoutMs: number | undefined,
      header: HeadersInit | undefined,
      input: AsyncIterable<MessageInitShape<I>>,
    ): Promise<StreamResponse<I, O>> {
      const called = find(method);
      const read = readRequest(method, input);
      const request = read instanceof Promise ? await read : read;
      const { life, init } = start(listener, signal, timeoutMs, header);
      const opening = invokeStream(called, init, request);
      try {
        const response = await untilAborted(life, opening);
        if (response.message instanceof OneMessage) {
          life.complete();
          const message = create(method.output, response.message.message as MessageInitShape<O>);
          return { ...response, method, message: new SingleMessage(message) };
        }
        const messages = new DirectStream<O>(response.message, method.output, life);
        return { ...response, method, message: await messages.started() };
      } catch (error) {
        opening.then(discard, ignore); // for a handler that opened too late
        const reason = ConnectError.from(error, Code.Internal);
        life.abort(reason);
        throw reason;
      }
    },
  };
}

function start(
  listener: ListenerName,
  signal: AbortSignal | undefined,
  timeoutMs: number | undefined,
  header: HeadersInit | undefined,
): { life: CallSignal; init: CallInit } {
  const limit = timeoutMs !== undefined && timeoutMs > 0 ? timeoutMs : undefined;
  const life = createCallSignal(signal, limit);
  const init: CallInit = {
    protocolName: "direct",
    header: new CallHeaders(header as CallHeadersInit | undefined),
    values: createContextValues()
      .set(hangUpKey, (error) => life.abort(error))
      .set(listenerKey, listener),
    signal: life.signal,
    deadline: limit === undefined ? undefined : Date.now() + limit,
  };
  return { life, init };
}

/** Settles as `work` does, but at the latest when the call ends: a handler may not notice the end. */
function untilAborted<T>(life: CallSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    life.onEnd(() => reject(life.reason));
    work.then(resolve, reject);
  });
}

function discard({ message }: StreamResponse): void {
  message[Symbol.asyncIterator]().return?.().catch(ignore);
}

function ignore(): void {}
