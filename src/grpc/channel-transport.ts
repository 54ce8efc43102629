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
  type ContextValues,
  createContextValues,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
  type Transport,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import { createMethodUrl } from "@connectrpc/connect/protocol";
import * as grpc from "@grpc/grpc-js";
import { applyInterceptors } from "./apply-interceptors.ts";
import { type CallSignal, createCallSignal } from "./call-signal.ts";
import { ClientCall } from "./client-call.ts";
import { maxRequestBytes, maxResponseBytes } from "./limits.ts";
import { onlyMessage, requestOf } from "./messages.ts";
import "./closing-sessions.ts";

type HeadersInit = ConstructorParameters<typeof Headers>[0];

/** How to call one core or many. */
export interface ChannelTransportOptions {
  /**
   * `host:port`, `dns:///host:port` for every address of a name, or `ipv4:host:port,host:port`.
   * Calls go round all addresses that answer.
   */
  readonly target: string;
  /** Default: no TLS. */
  readonly credentials?: grpc.ChannelCredentials;
  /** Run on the caller's side; the first one is the outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** Channel options beyond ours. */
  readonly channelOptions?: grpc.ChannelOptions;
}

/** A transport that holds connections until it is closed. */
export interface ChannelTransport extends Transport {
  /** Resolves when there is a connection. Rejects UNAVAILABLE when none comes about in so many milliseconds. */
  connect(timeoutMs: number): Promise<void>;
  /** Takes no new calls, and closes the connections once the calls under way are done. */
  close(): void;
}

const channelOptions: grpc.ChannelOptions = {
  "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  "grpc.max_send_message_length": maxRequestBytes,
  "grpc.max_receive_message_length": maxResponseBytes,
  // Finds out that a peer is gone without a word, even while a call waits for its first token.
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
  // A core that comes back, or a new one behind the name, is in use within seconds.
  "grpc.max_reconnect_backoff_ms": 5_000,
  "grpc.dns_min_time_between_resolutions_ms": 5_000,
  "grpc.enable_channelz": 0,
};

/** Calls services over gRPC: grpc-js carries, with its load balancing, keepalive and reconnecting. */
export function createChannelTransport(options: ChannelTransportOptions): ChannelTransport {
  const { target, credentials = grpc.credentials.createInsecure(), interceptors = [] } = options;
  const channel = new grpc.Channel(target, credentials, { ...channelOptions, ...options.channelOptions });
  return {
    connect: (timeoutMs) => connect(channel, deadlineIn(timeoutMs)),
    close: () => channel.close(),
    async unary<I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
      signal: AbortSignal | undefined,
      timeoutMs: number | undefined,
      header: HeadersInit | undefined,
      input: MessageInitShape<I>,
      contextValues?: ContextValues,
    ): Promise<UnaryResponse<I, O>> {
      const deadline = deadlineIn(timeoutMs);
      const life = createCallSignal(signal, undefined);
      const call = applyInterceptors(interceptors, (request) =>
        callUnary(channel, request as UnaryRequest, deadline, life),
      );
      try {
        const message = create(method.input, input);
        const request = { stream: false, method, message, ...common(method, life, header, contextValues) } as const;
        return (await call(request)) as UnaryResponse<I, O>;
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
      contextValues?: ContextValues,
    ): Promise<StreamResponse<I, O>> {
      const deadline = deadlineIn(timeoutMs);
      const life = createCallSignal(signal, undefined);
      const call = applyInterceptors(interceptors, (request) =>
        callStream(channel, request as StreamRequest, deadline, life),
      );
      try {
        const message = await requestOf(method, input);
        const request = { stream: true, method, message, ...common(method, life, header, contextValues) } as const;
        return (await call(request)) as StreamResponse<I, O>;
      } catch (error) {
        const reason = ConnectError.from(error, Code.Internal);
        life.abort(reason);
        throw reason;
      }
    },
  };
}

const { READY, TRANSIENT_FAILURE, SHUTDOWN } = grpc.connectivityState;

function connect(channel: grpc.Channel, deadline: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (late?: Error) => {
      const state = channel.getConnectivityState(true);
      if (state === READY) resolve();
      else if (late || state === TRANSIENT_FAILURE || state === SHUTDOWN) {
        reject(new ConnectError("no connection could be made", Code.Unavailable));
      } else channel.watchConnectivityState(state, deadline, look);
    };
    look();
  });
}

function common(
  method: DescMethod,
  { signal }: CallSignal,
  header: HeadersInit | undefined,
  contextValues: ContextValues = createContextValues(),
) {
  const url = createMethodUrl("http://core", method);
  return { service: method.parent, requestMethod: "POST", url, signal, header: new Headers(header), contextValues };
}

/** The deadline is grpc-js's to keep: it travels with the call and ends it on both sides. */
function deadlineIn(timeoutMs: number | undefined): number {
  return timeoutMs !== undefined && timeoutMs > 0 ? Date.now() + timeoutMs : Number.POSITIVE_INFINITY;
}

async function callUnary(
  channel: grpc.Channel,
  { method, service, header, message: request }: UnaryRequest,
  deadline: number,
  life: CallSignal,
): Promise<UnaryResponse> {
  const call = new ClientCall(channel, method, header, deadline, life);
  call.sendOnly(request);
  const { value: message } = await call.next();
  if (!message) throw new ConnectError("the response message is missing", Code.Unimplemented);
  await call.next(); // the status
  return { stream: false, service, method, header: call.header, trailer: call.trailer, message };
}

/** Resolves when the response's headers are there. */
async function callStream(
  channel: grpc.Channel,
  { method, service, header, message: requests }: StreamRequest,
  deadline: number,
  life: CallSignal,
): Promise<StreamResponse> {
  const call = new ClientCall(channel, method, header, deadline, life);
  if (method.methodKind === "server_streaming") call.sendOnly(await onlyMessage(requests));
  else void call.sendAll(requests);
  await call.opened;
  return { stream: true, service, method, header: call.header, trailer: call.trailer, message: call };
}
