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
import { type CallSignal, createCallSignal } from "./call-signal.ts";
import { callStream, callUnary } from "./grpc-call.ts";
import { applyInterceptors } from "./interceptors.ts";
import { maxRequestBytes, maxResponseBytes } from "./limits.ts";
import { requestOf } from "./messages.ts";

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
}

/** A transport that holds connections until it is closed. */
export interface ChannelTransport extends Transport {
  /** Closes the connections once the calls under way are done. */
  close(): void;
}

const channelOptions: grpc.ClientOptions = {
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
  const client = new grpc.Client(target, credentials, channelOptions);
  return {
    close: () => client.close(),
    async unary<I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
      signal: AbortSignal | undefined,
      timeoutMs: number | undefined,
      header: HeadersInit | undefined,
      input: MessageInitShape<I>,
      contextValues?: ContextValues,
    ): Promise<UnaryResponse<I, O>> {
      const life = createCallSignal(signal, undefined);
      const options = callOptions(timeoutMs);
      const call = applyInterceptors(interceptors, (request) =>
        callUnary(client, request as UnaryRequest, life, options),
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
      const life = createCallSignal(signal, undefined);
      const options = callOptions(timeoutMs);
      const call = applyInterceptors(interceptors, (request) =>
        callStream(client, request as StreamRequest, life, options),
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
function callOptions(timeoutMs: number | undefined): grpc.CallOptions {
  return timeoutMs !== undefined && timeoutMs > 0 ? { deadline: Date.now() + timeoutMs } : {};
}
