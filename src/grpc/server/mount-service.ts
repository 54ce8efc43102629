import type { EventEmitter } from "node:events";
import { create, fromBinary, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues, type Interceptor } from "@connectrpc/connect";
import type * as grpc from "@grpc/grpc-js";
import { type CallSignal, createCallSignal, deadlineExceeded } from "../call-signal.ts";
import { type CallInit, invokeStream, invokeUnary, type ServedMethod, servedMethods } from "../invoke.ts";
import { bytesOf } from "../wire/bytes.ts";
import { drained } from "../wire/drained.ts";
import { OneMessage } from "../wire/messages.ts";
import { headersOf, isEmpty, metadataOf } from "../wire/metadata.ts";
import { statusOf } from "../wire/status.ts";
import { peerKey } from "./peer.ts";
import type { ServiceRegistration } from "./registration.ts";

/**
 * Serves a Connect service on a grpc-js server. The first interceptor is the outermost.
 * The calls under way are kept in `calls`, for whoever has to end them.
 */
export function mountService(
  server: grpc.Server,
  service: ServiceRegistration,
  interceptors: readonly Interceptor[],
  calls: Set<CallSignal>,
): void {
  const definition: Record<string, grpc.MethodDefinition<Message, Message>> = {};
  const handlers: grpc.UntypedServiceImplementation = {};
  for (const served of servedMethods(service, interceptors)) {
    const { localName } = served.spec.method;
    definition[localName] = definitionOf(served);
    handlers[localName] = served.spec.kind === "unary" ? unaryHandler(served, calls) : streamHandler(served, calls);
  }
  server.addService(definition, handlers);
}

function definitionOf({ spec }: ServedMethod): grpc.MethodDefinition<Message, Message> {
  const { name, parent, input, output } = spec.method;
  return {
    path: `/${parent.typeName}/${name}`,
    requestStream: spec.kind === "bidi_streaming",
    responseStream: spec.kind !== "unary",
    requestSerialize: (message) => bytesOf(input, message),
    requestDeserialize: (bytes) => fromBinary(input, bytes),
    responseSerialize: (message) => bytesOf(output, message),
    responseDeserialize: (bytes) => fromBinary(output, bytes),
  };
}

function unaryHandler(served: ServedMethod, calls: Set<CallSignal>) {
  return async (call: UnaryCall, done: grpc.sendUnaryData<Message>) => {
    const life = lifeOf(call);
    calls.add(life);
    try {
      const { message, header, trailer } = await invokeUnary(served, initOf(call, life), call.request);
      if (!isEmpty(header)) call.sendMetadata(metadataOf(header));
      done(null, create(served.spec.method.output, message), metadataOf(trailer));
    } catch (error) {
      done(statusOf(error));
    } finally {
      life.complete();
      calls.delete(life);
    }
  };
}

type UnaryCall = grpc.ServerUnaryCall<Message, Message>;
type StreamingCall = grpc.ServerWritableStream<Message, Message> | grpc.ServerDuplexStream<Message, Message>;

function streamHandler(served: ServedMethod, calls: Set<CallSignal>) {
  return async (call: StreamingCall) => {
    const life = lifeOf(call);
    calls.add(life);
    try {
      await respond(call, served, life);
    } catch (error) {
      call.emit("error", statusOf(error)); // how grpc-js takes the status of a stream
    } finally {
      life.complete();
      calls.delete(life);
    }
  };
}

async function respond(call: StreamingCall, served: ServedMethod, life: CallSignal): Promise<void> {
  // The duplex stream is still needed for the answer when the handler has read enough.
  const input = "request" in call ? new OneMessage(call.request) : call.iterator({ destroyOnReturn: false });
  const { message: messages, header, trailer } = await invokeStream(served, initOf(call, life), input);
  let started = false;
  for await (const message of messages) {
    life.signal.throwIfAborted(); // closes the handler's generator
    if (!started && !isEmpty(header)) call.sendMetadata(metadataOf(header));
    started = true;
    if (!call.write(create(served.spec.method.output, message))) await drained(call, life.signal);
    life.signal.throwIfAborted();
  }
  life.signal.throwIfAborted(); // a handler may end without a word when its signal tells it to
  if (!started && !isEmpty(header)) call.sendMetadata(metadataOf(header));
  call.end(metadataOf(trailer));
}

function lifeOf(call: EventEmitter & { getDeadline(): grpc.Deadline }): CallSignal {
  // grpc-js watches the deadline and reports it as a cancellation.
  const life = createCallSignal(undefined, undefined);
  call.once("cancelled", () => {
    if (life.signal.aborted) return; // also told of calls that are over
    const deadline = deadlineOf(call);
    const late = deadline !== undefined && deadline <= Date.now();
    life.abort(late ? deadlineExceeded() : new ConnectError("the caller cancelled the call", Code.Canceled));
  });
  return life;
}

function initOf(call: UnaryCall | StreamingCall, { signal }: CallSignal): CallInit {
  return {
    protocolName: "grpc",
    header: headersOf(call.metadata),
    values: createContextValues().set(peerKey, addressOf(call.getPeer())),
    signal,
    deadline: deadlineOf(call),
  };
}

function deadlineOf(call: { getDeadline(): grpc.Deadline }): number | undefined {
  const deadline = Number(call.getDeadline());
  return Number.isFinite(deadline) ? deadline : undefined;
}

function addressOf(peer: string): string {
  return peer.replace(/:\d+$/, "");
}
