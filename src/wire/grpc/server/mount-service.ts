import type { EventEmitter } from "node:events";
import { create, type DescMessage, type DescMethodUnary, fromBinary, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type * as grpc from "@grpc/grpc-js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { type CallSignal, createCallSignal, deadlineExceeded } from "../call-signal.ts";
import { hangUpKey } from "../hang-up.ts";
import { type CallInit, invokeStream, invokeUnary, type ServedMethod } from "../invoke.ts";
import { drained } from "../messages/drained.ts";
import { isEmpty, toMetadata } from "../messages/metadata.ts";
import { OneMessage } from "../messages/request-messages.ts";
import { toStatus } from "../messages/status.ts";
import { toBytes } from "../workarounds/writer-room.ts";
import { refuse } from "./gate.ts";
import { readHead } from "./guard-calls.ts";

/** Serves a Connect service's methods on a grpc-js server. `calls` has the running calls, so that they can be ended. */
export function mountService(server: grpc.Server, methods: readonly ServedMethod[], calls: Set<CallSignal>): void {
  const definition: Record<string, grpc.MethodDefinition<Received, Message>> = {};
  const handlers: grpc.UntypedServiceImplementation = {};
  for (const served of methods) {
    const { localName } = served.spec.method;
    definition[localName] = toDefinition(served);
    handlers[localName] = served.spec.kind === "unary" ? unaryHandler(served, calls) : streamHandler(served, calls);
  }
  server.addService(definition, handlers);
}

/** The path under which a method is called. */
export function methodPath({ spec }: ServedMethod): string {
  return `/${spec.method.parent.typeName}/${spec.method.name}`;
}

function toDefinition(served: ServedMethod): grpc.MethodDefinition<Received, Message> {
  const { spec } = served;
  const { input, output } = spec.method;
  return {
    path: methodPath(served),
    requestStream: spec.kind === "bidi_streaming",
    responseStream: spec.kind !== "unary",
    requestSerialize: (message) => toBytes(input, message as Message),
    requestDeserialize: (bytes) => readMessage(input, bytes),
    responseSerialize: (message) => toBytes(output, message),
    responseDeserialize: (bytes) => fromBinary(output, bytes),
  };
}

function unaryHandler(served: ServedMethod, calls: Set<CallSignal>) {
  return async (call: UnaryCall, done: grpc.sendUnaryData<Message>) => {
    const life = toLife(call);
    calls.add(life);
    try {
      const init = toInit(call, life);
      if (call.request instanceof ConnectError) {
        throw await refuseMessage(served, init, call.request);
      }
      const { message, header, trailer } = await invokeUnary(served, init, call.request);
      if (!isEmpty(header)) {
        call.sendMetadata(toMetadata(header));
      }
      done(null, create(served.spec.method.output, message), toMetadata(trailer));
    } catch (error) {
      done(toStatus(error));
    } finally {
      life.complete();
      calls.delete(life);
    }
  };
}

/** A request message, or the error that its bytes caused. */
type Received = Message | ConnectError;

type UnaryCall = grpc.ServerUnaryCall<Received, Message>;
type StreamingCall = grpc.ServerWritableStream<Received, Message> | grpc.ServerDuplexStream<Received, Message>;

/** Fields that nobody knows would be kept, at many times their size: no request is ever sent on. */
export const withoutUnknown = { readUnknownFields: false };

/** Decodes a message. Invalid bytes are the caller's fault; grpc-js would report an error thrown here as internal. */
function readMessage(schema: DescMessage, bytes: Uint8Array): Received {
  try {
    return fromBinary(schema, bytes, withoutUnknown);
  } catch (cause) {
    return failure(Reason.INVALID_ARGUMENT, `The request message cannot be read: ${(cause as Error).message}`);
  }
}

function refuseMessage({ spec, interceptors, url }: ServedMethod, init: CallInit, reason: ConnectError) {
  const { header, values: contextValues, signal } = init;
  return refuse(interceptors, { method: spec.method as DescMethodUnary, header, contextValues, signal, url }, reason);
}

async function* checkMessages(messages: AsyncIterable<Received>): AsyncGenerator<Message> {
  for await (const message of messages) {
    if (message instanceof ConnectError) {
      throw message;
    }
    yield message;
  }
}

function streamHandler(served: ServedMethod, calls: Set<CallSignal>) {
  return async (call: StreamingCall) => {
    const life = toLife(call);
    calls.add(life);
    try {
      await respond(call, served, life);
    } catch (error) {
      call.emit("error", toStatus(error)); // grpc-js takes a stream's status this way
    } finally {
      life.complete();
      calls.delete(life);
    }
  };
}

async function respond(call: StreamingCall, served: ServedMethod, life: CallSignal): Promise<void> {
  // The duplex stream is still needed for the answer when the handler has read enough.
  const init = toInit(call, life);
  const { message: messages, header, trailer } = await invokeStream(served, init, await readInput(call, served, init));
  let hasBegun = false;
  const begin = () => {
    if (!hasBegun && !isEmpty(header)) {
      call.sendMetadata(toMetadata(header));
    }
    hasBegun = true;
  };
  try {
    for await (const message of messages) {
      life.signal.throwIfAborted(); // closes the handler's generator
      begin();
      if (!call.write(create(served.spec.method.output, message))) {
        await drained(call, life.signal);
      }
      life.signal.throwIfAborted();
    }
    life.signal.throwIfAborted(); // a handler may end silently when its signal aborts
  } finally {
    begin(); // the headers are valid for a call that fails, too
  }
  call.end(toMetadata(trailer));
}

async function readInput(call: StreamingCall, served: ServedMethod, init: CallInit): Promise<AsyncIterable<Message>> {
  if (!("request" in call)) {
    return checkMessages(call.iterator({ destroyOnReturn: false }));
  }
  if (call.request instanceof ConnectError) {
    throw await refuseMessage(served, init, call.request);
  }
  return new OneMessage(call.request);
}

function toLife(call: EventEmitter & { getDeadline(): grpc.Deadline }): CallSignal {
  // grpc-js enforces the deadline and reports it as a cancellation.
  const life = createCallSignal(undefined, undefined);
  call.once("cancelled", () => {
    if (life.signal.aborted) {
      return; // grpc-js reports calls that are over, too
    }
    const deadline = readDeadline(call);
    const late = deadline !== undefined && deadline <= Date.now();
    life.abort(late ? deadlineExceeded() : new ConnectError("the caller cancelled the call", Code.Canceled));
  });
  return life;
}

function toInit(call: UnaryCall | StreamingCall, life: CallSignal): CallInit {
  const { header, contextValues: values } = readHead(call.metadata);
  return {
    protocolName: "grpc",
    header,
    values: values.set(hangUpKey, (error) => life.abort(error)),
    signal: life.signal,
    deadline: readDeadline(call),
  };
}

function readDeadline(call: { getDeadline(): grpc.Deadline }): number | undefined {
  const deadline = Number(call.getDeadline());
  return Number.isFinite(deadline) ? deadline : undefined;
}
