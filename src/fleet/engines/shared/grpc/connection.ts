import type { DescService } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { readDetail } from "#lib/errors/detail.ts";
import { type ChannelTransport, createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { createTlsCredentials } from "#src/wire/grpc/workarounds/tls-server-name.ts";
import { engineFailed, engineUnreachable, unreadable } from "../faults.ts";
import type { ConnectionOptions, HttpResponse } from "../http/connection.ts";

/** The most bytes of a message. The longest lists the tokens of an input of our largest size, with their texts. */
export const mostListBytes = 16 * 1024 * 1024;

const channelOptions = {
  // SGLang breaks off a stream whose reader is some dozen chunks behind. This many bytes wait here for a slow reader.
  "grpc-node.flow_control_window": 1024 * 1024,
};

/** How to reach a server. */
export interface GrpcOptions extends Pick<ConnectionOptions, "connectTimeoutMs" | "authorization"> {
  /** The most bytes of a message from the server. Default: those of the longest list of tokens. */
  readonly mostBytes?: number;
}

/** The gRPC connections to a server, or to all addresses of a name. */
export class GrpcConnection {
  readonly #transport: ChannelTransport;
  readonly #target: string;
  readonly #connectTimeoutMs: number;

  /** `url` is `grpc://host:port`, `grpcs://host:port` with TLS, `dns:///host:port` or `ipv4:host:port,host:port`. */
  constructor(url: string, { connectTimeoutMs, authorization, mostBytes = mostListBytes }: GrpcOptions) {
    const tls = url.startsWith("grpcs:");
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#target = url.replace(/^grpcs?:\/\//, "");
    this.#transport = createChannelTransport({
      target: this.#target,
      channelOptions: { ...channelOptions, "grpc.max_receive_message_length": mostBytes },
      ...(tls && { credentials: createTlsCredentials() }),
      ...(authorization !== undefined && { interceptors: [authorize(authorization)] }),
    });
  }

  /** Resolves when there is a connection. A call alone would wait for one as long as the call may run. */
  async connect(): Promise<void> {
    try {
      await this.#transport.connect(this.#connectTimeoutMs);
    } catch (error) {
      throw engineUnreachable(`${this.#target}: ${error instanceof Error ? error.message : error}`, error);
    }
  }

  client<T extends DescService>(service: T): Client<T> {
    return createClient(service, this.#transport);
  }

  async close(): Promise<void> {
    this.#transport.close();
  }
}

function authorize(authorization: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", authorization);
    return next(request);
  };
}

/** The HTTP status that corresponds to a gRPC status: engines use both with the same meaning. */
const statuses: Partial<Record<Code, number>> = {
  [Code.InvalidArgument]: 400,
  [Code.FailedPrecondition]: 424,
  [Code.OutOfRange]: 400,
  [Code.Unauthenticated]: 401,
  [Code.PermissionDenied]: 403,
  [Code.NotFound]: 404,
  [Code.Unimplemented]: 404,
  [Code.ResourceExhausted]: 429,
  [Code.Unavailable]: 502,
  [Code.DeadlineExceeded]: 504,
};

/** The error text of grpc-js, not of the server, for a message beyond the bound. */
const tooLarge = "Received message larger than max";

/** A failed call as the equivalent HTTP response. Rethrows an error that is not the engine's. */
export function toResponse(error: unknown, signal: AbortSignal): HttpResponse {
  signal.throwIfAborted();
  if (readDetail(error) !== undefined) {
    throw error;
  }
  if (!(error instanceof ConnectError)) {
    throw unreadable("the server", error);
  }
  const message = error.rawMessage;
  if (error.code === Code.ResourceExhausted && message.startsWith(tooLarge)) {
    throw engineFailed("the server sent a message that is too large", false, error);
  }
  const text = message.startsWith("{") ? message : JSON.stringify({ error: message });
  return { status: statuses[error.code] ?? 500, headers: {}, text };
}
