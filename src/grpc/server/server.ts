import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import * as grpc from "@grpc/grpc-js";
import { listen } from "../../../lib/net/listen.ts";
import type { ServerTls } from "../../../lib/net/tls-identity.ts";
import type { CallSignal } from "../call-signal.ts";
import { maxRequestBytes, maxResponseBytes } from "../wire/limits.ts";
import { connectionsOf } from "./connections.ts";
import { type ListeningServer, type ServerOptions, stopGently } from "./listening-server.ts";
import { mountService } from "./mount-service.ts";
import { createReflection } from "./reflection.ts";
import { keepRenewed, tlsOptions } from "./tls.ts";
import "../workarounds/closing-sessions.ts";

/** What the gRPC server takes beside that. */
export interface GrpcServerOptions extends ServerOptions {
  /**
   * How old a connection may get before its client is asked to open another, which is how calls
   * spread over replicas that came later. Default: any age.
   */
  readonly maxConnectionAgeMs?: number;
}

/** Serves over gRPC, with server reflection. Throws when the address cannot be listened on. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<ListeningServer> {
  const { address, services, interceptors, tls } = options;
  const server = new grpc.Server(serverOptions(options));
  const calls = new Set<CallSignal>();
  for (const service of [...services, ...createReflection(services)]) {
    mountService(server, service, interceptors, calls);
  }
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  const accept = (connection: Socket) => {
    connection.on("error", () => {}); // the HTTP/2 session deals with it, if there is one yet
    injector.injectConnection(connection);
  };
  const listener = tls ? secureListener(tls, accept) : createServer({ noDelay: true }, accept);
  // grpc-js cannot close a connection that has calls under way.
  const connections = connectionsOf(listener);
  return {
    address: await listen(listener, address, "listen.grpc"),
    stop: (graceMs) =>
      stopGently({
        graceMs,
        close(closed) {
          listener.close(closed);
          server.tryShutdown(() => {}); // asks the clients to open no more calls
          connections.endSilent();
        },
        endCalls(reason) {
          for (const call of calls) call.abort(reason);
        },
        cutOff: () => connections.endAll(),
      }),
  };
}

/** TLS ends here and not in grpc-js, whose credentials cannot be renewed. */
function secureListener(tls: ServerTls, accept: (connection: Socket) => void): Server {
  const server = createTlsServer({ ...tlsOptions(tls, "certified"), ALPNProtocols: ["h2"], noDelay: true }, accept);
  keepRenewed(server, tls);
  return server;
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
