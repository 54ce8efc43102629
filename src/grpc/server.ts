import type { Interceptor } from "@connectrpc/connect";
import * as grpc from "@grpc/grpc-js";
import { maxRequestBytes, maxResponseBytes } from "./limits.ts";
import { listenError } from "./listen-error.ts";
import { mountService } from "./mount-service.ts";
import { createReflection } from "./reflection.ts";
import type { ServiceRegistration } from "./registration.ts";

/** What a server serves and where. */
export interface ServerOptions {
  /** `host:port`; port 0 picks a free one. */
  readonly address: string;
  readonly services: readonly ServiceRegistration[];
  /** The first one is the outermost. */
  readonly interceptors: readonly Interceptor[];
}

/** A server that listens. */
export interface ListeningServer {
  /** `host:port`, with the port that was picked. */
  readonly address: string;
  /** Takes no new calls, waits for those under way, and after `graceMs` cuts off the rest. */
  stop(graceMs: number): Promise<void>;
}

/** What the gRPC server takes beside that. */
export interface GrpcServerOptions extends ServerOptions {
  /** Default: no TLS. */
  readonly credentials?: grpc.ServerCredentials;
  /**
   * How old a connection may get before its client is asked to open another, which is how calls
   * spread over replicas that came later. Default: any age.
   */
  readonly maxConnectionAgeMs?: number;
}

/** Serves over gRPC, with server reflection. Throws when the address cannot be listened on. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<ListeningServer> {
  const { address, services, interceptors, credentials = grpc.ServerCredentials.createInsecure() } = options;
  // What grpc-js would write to standard error is thrown below; GRPC_VERBOSITY still brings it back.
  if (!process.env.GRPC_VERBOSITY) grpc.setLogVerbosity(grpc.logVerbosity.NONE);
  const server = new grpc.Server(serverOptions(options));
  for (const service of [...services, ...createReflection(services)]) mountService(server, service, interceptors);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) =>
      error ? reject(listenError(address, "listen.grpc", error)) : resolve(bound),
    );
  });
  return {
    address: address.replace(/\d+$/, String(port)),
    stop: (graceMs) =>
      new Promise((resolve) => {
        const cutOff = setTimeout(() => server.forceShutdown(), graceMs);
        server.tryShutdown(() => {
          clearTimeout(cutOff);
          resolve();
        });
      }),
  };
}

function serverOptions({ maxConnectionAgeMs }: GrpcServerOptions): grpc.ServerOptions {
  return {
    "grpc.max_receive_message_length": maxRequestBytes,
    "grpc.max_send_message_length": maxResponseBytes,
    "grpc.max_concurrent_streams": 10_000,
    // A client that is gone without a word is noticed, and its calls are cancelled.
    "grpc.keepalive_time_ms": 60_000,
    "grpc.keepalive_timeout_ms": 20_000,
    "grpc.enable_channelz": 0,
    ...(maxConnectionAgeMs !== undefined && { "grpc.max_connection_age_ms": maxConnectionAgeMs }),
  };
}
