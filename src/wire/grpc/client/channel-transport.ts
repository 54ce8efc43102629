import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type DescMethodUnary,
  type Message,
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
import { applyInterceptors } from "../apply-interceptors.ts";
import { type CallSignal, createCallSignal } from "../call-signal.ts";
import { maxRequestBytes, maxResponseBytes } from "../messages/limits.ts";
import type { HeadersInit } from "../messages/metadata.ts";
import { onlyMessage, readRequest } from "../messages/request-messages.ts";
import { requestTooLarge } from "../messages/too-large.ts";
import { toBytes } from "../workarounds/writer-room.ts";
import { ChannelPool } from "./channel-pool.ts";
import { ClientCall } from "./client-call.ts";

/** How to reach one core or several. */
export interface ChannelTransportOptions {
  /**
   * `host:port`, `dns:///host:port` for every address of a name, or `ipv4:host:port,host:port`. Calls go to all
   * reachable addresses in turn.
   */
  readonly target: string;
  /** Default: no TLS. */
  readonly credentials?: grpc.ChannelCredentials;
  /** Interceptors on the caller's side. The first one is the outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** Is given the errors of calls that are never sent: their messages are too large. */
  readonly onUnsent?: (error: ConnectError) => void;
  /** Channel options in addition to ours. */
  readonly channelOptions?: grpc.ChannelOptions;
}

/** A transport that keeps its connections until it is closed. */
export interface ChannelTransport extends Transport {
  /** Resolves when there is a connection. Rejects UNAVAILABLE when there is none after `timeoutMs`. */
  connect(timeoutMs: number): Promise<void>;
  /** Takes no new calls, and closes the connections once the running calls are done. */
  close(): void;
}

const channelOptions: grpc.ChannelOptions = {
  "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  "grpc.max_send_message_length": maxRequestBytes,
  "grpc.max_receive_message_length": maxResponseBytes,
  // Detects a peer that vanished silently, even while a call waits for its first token.
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
  // A core that comes back, or a new one behind the name, is used within seconds.
  "grpc.max_reconnect_backoff_ms": 5_000,
  // Channels opened for a busy hour lose their connections after it.
  "grpc.client_idle_timeout_ms": 300_000,
  "grpc.dns_min_time_between_resolutions_ms": 5_000,
  "grpc.enable_channelz": 0,
};

/** Calls services over gRPC. grpc-js carries the calls, with its load balancing, keepalive and reconnecting. */
export function createChannelTransport(options: ChannelTransportOptions): ChannelTransport {
  const { target, credentials = grpc.credentials.createInsecure(), interceptors = [], onUnsent = () => {} } = options;
  const channels = new ChannelPool(target, credentials, { ...channelOptions, ...options.channelOptions });
  const carrier = { channels, onUnsent };
  return {
    connect: (timeoutMs) => connect(channels.first, deadlineIn(timeoutMs)),
    close: () => channels.close(),
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
      const send = (request: Sent<UnaryRequest>) => callUnary(carrier, request, deadline, life);
      try {
        const message = create(method.input, input);
        const sent = { stream: false, method, service: method.parent, header, message } as const;
        return (await through(interceptors, send, sent, life, contextValues)) as UnaryResponse<I, O>;
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
      const send = (request: Sent<StreamRequest>) => callStream(carrier, request, deadline, life);
      try {
        const message = await readRequest(method, input);
        const sent = { stream: true, method, service: method.parent, header, message } as const;
        return (await through(interceptors, send, sent, life, contextValues)) as StreamResponse<I, O>;
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
      if (state === READY) {
        resolve();
      } else if (late || state === TRANSIENT_FAILURE || state === SHUTDOWN) {
        reject(new ConnectError("no connection could be made", Code.Unavailable));
      } else {
        channel.watchConnectivityState(state, deadline, look);
      }
    };
    look();
  });
}

type Request = UnaryRequest | StreamRequest;

/** The parts of a request that are needed to send it. */
type Sent<R extends Request> = Pick<R, "stream" | "method" | "service" | "message"> & { readonly header: HeadersInit };

/** Sends a request through the interceptors. Fields that only interceptors read are created only when there are any. */
function through<R extends Request>(
  interceptors: readonly Interceptor[],
  send: (request: Sent<R>) => Promise<UnaryResponse | StreamResponse>,
  sent: Sent<R>,
  life: CallSignal,
  contextValues: ContextValues | undefined,
): Promise<UnaryResponse | StreamResponse> {
  if (interceptors.length === 0) {
    return send(sent);
  }
  const url = createMethodUrl("http://core", sent.method);
  const request = {
    ...sent,
    requestMethod: "POST",
    url,
    signal: life.signal,
    header: new Headers(sent.header),
    contextValues: contextValues ?? createContextValues(),
  };
  return applyInterceptors(interceptors, (seen) => send(seen as R))(request as unknown as R);
}

/** The deadline, for grpc-js to enforce: it travels with the call and ends it on both sides. */
function deadlineIn(timeoutMs: number | undefined): number {
  return timeoutMs !== undefined && timeoutMs > 0 ? Date.now() + timeoutMs : Number.POSITIVE_INFINITY;
}

/** What carries calls. */
interface Carrier extends Required<Pick<ChannelTransportOptions, "onUnsent">> {
  readonly channels: ChannelPool;
}

/** Starts a call with its only request message. */
function callWith(
  { channels, onUnsent }: Carrier,
  { method, header }: Pick<Sent<Request>, "method" | "header">,
  message: Message,
  deadline: number,
  life: CallSignal,
): ClientCall {
  const bytes = toBytes(method.input, message);
  if (bytes.length > maxRequestBytes) {
    const error = requestTooLarge(bytes.length);
    onUnsent(error);
    throw error;
  }
  const call = new ClientCall(channels, method, header, deadline, life);
  call.sendOnly(bytes);
  return call;
}

async function callUnary(
  carrier: Carrier,
  { method, service, header, message: request }: Sent<UnaryRequest>,
  deadline: number,
  life: CallSignal,
): Promise<UnaryResponse> {
  const call = callWith(carrier, { method, header }, request, deadline, life);
  const { value: message } = await call.next();
  if (!message) {
    throw new ConnectError("the response message is missing", Code.Unimplemented);
  }
  await call.next(); // reads the status
  return {
    stream: false,
    service,
    method,
    message,
    get header() {
      return call.header;
    },
    get trailer() {
      return call.trailer;
    },
  };
}

/** Resolves when the response's headers have arrived. */
async function callStream(
  carrier: Carrier,
  { method, service, header, message: requests }: Sent<StreamRequest>,
  deadline: number,
  life: CallSignal,
): Promise<StreamResponse> {
  const call =
    method.methodKind === "server_streaming"
      ? callWith(carrier, { method, header }, await onlyMessage(requests), deadline, life)
      : new ClientCall(carrier.channels, method, header, deadline, life);
  if (method.methodKind !== "server_streaming") {
    void call.sendAll(requests);
  }
  await call.opened;
  return {
    stream: true,
    service,
    method,
    message: call,
    get header() {
      return call.header;
    },
    get trailer() {
      return call.trailer;
    },
  };
}
