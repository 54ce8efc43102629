import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import * as grpc from "@grpc/grpc-js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { Door } from "#lib/door/door.ts";
import { keepRenewed, tlsOptions } from "#lib/door/tls.ts";
import { toNetwork } from "#lib/net/network.ts";
import type { ServerTls } from "#lib/net/tls-identity.ts";
import { requestIdHeader } from "#lib/rpc/call-headers.ts";
import type { CallSignal } from "../call-signal.ts";
import { servedMethods } from "../invoke.ts";
import { maxHeaderBytes, maxRequestBytes, maxResponseBytes, maxStreams } from "../messages/limits.ts";
import { injectorWithoutResetRate } from "../workarounds/stream-resets.ts";
import { boundStreams } from "../workarounds/unserved-streams.ts";
import { openGate } from "./gate.ts";
import { guardCalls } from "./guard-calls.ts";
import { refuseInTurn, standingOf } from "./in-turn.ts";
import { type ListeningServer, type ServerOptions, stopGently } from "./listening-server.ts";
import { methodPath, mountService } from "./mount-service.ts";
import { Receiving } from "./receiving.ts";
import { createReflection } from "./reflection.ts";

/** Options of the gRPC server only. */
export interface GrpcServerOptions extends ServerOptions {
  /**
   * The age at which a connection's client is asked to open another one, so that calls spread to replicas that started
   * later. Default: no limit.
   */
  readonly maxConnectionAgeMs?: number;
}

/** Serves gRPC, with server reflection. Throws when the address cannot be listened on. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<ListeningServer> {
  const {
    address,
    services,
    interceptors,
    tls,
    door = new Door({ listener: "grpc" }),
    gate = openGate,
    receiving = new Receiving(),
  } = options;
  const mounted = [...services, ...createReflection(services, door)].map((service) =>
    servedMethods(service, interceptors),
  );
  const served = new Map(mounted.flat().map((method) => [methodPath(method), method]));
  const guard = guardCalls(served, { gate, receiving, door });
  const server = new grpc.Server({ ...serverOptions(options), interceptors: [guard] });
  boundStreams(server, {
    isServed: (path) => served.has(path),
    begin: ({ session }, look) =>
      door.begins(() => session?.socket.remoteAddress, look, !standingOf(session, door).isKnown),
    refuse: (stream, { [requestIdHeader]: given }, answer) => {
      const client = stream.session?.socket.remoteAddress;
      const name = () => door.nameRefusal({ given, reason: Reason.UNSUPPORTED, address: toNetwork(client ?? "") });
      refuseInTurn(
        {
          connection: stream.session,
          client,
          onClose: (listener) => void stream.once("close", listener),
          act: () => stream.destroyed || answer(name()),
        },
        door,
      );
    },
  });
  const calls = new Set<CallSignal>();
  for (const methods of mounted) {
    mountService(server, methods, calls);
  }
  const usual = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  const ofForwarders = injectorWithoutResetRate(server);
  const accept = (connection: Socket) => {
    connection.on("error", () => {}); // the HTTP/2 session, if there is one yet, handles the error
    const injector = gate.forwards?.(connection.remoteAddress ?? "") ? ofForwarders : usual;
    injector.injectConnection(connection);
  };
  const listener = tls ? secureListener(tls, accept) : createServer({ noDelay: true }, accept);
  return {
    address: await door.open(listener, address, "listen.grpc"),
    stop: (graceMs) =>
      stopGently({
        graceMs,
        close(closed) {
          void door.close(listener).then(() => closed());
          server.tryShutdown(() => {}); // asks the clients to open no more calls
          door.connections.endSilent();
        },
        endCalls(reason) {
          for (const call of calls) {
            call.abort(reason);
          }
        },
        // grpc-js cannot close a connection with running calls.
        cutOff: () => door.connections.endAll(),
      }),
  };
}

/** A TLS listener. TLS ends here because grpc-js cannot renew its credentials. */
function secureListener(tls: ServerTls, accept: (connection: Socket) => void): Server {
  const server = createTlsServer({ ...tlsOptions(tls, "certified"), ALPNProtocols: ["h2"], noDelay: true }, accept);
  keepRenewed(server, tls);
  return server;
}

function serverOptions({ maxConnectionAgeMs }: GrpcServerOptions): grpc.ServerOptions {
  return {
    "grpc.max_receive_message_length": maxRequestBytes,
    "grpc.max_send_message_length": maxResponseBytes,
    "grpc.max_concurrent_streams": maxStreams,
    "grpc.max_metadata_size": maxHeaderBytes,
    // A client that vanished silently is detected, and its calls are cancelled.
    "grpc.keepalive_time_ms": 60_000,
    "grpc.keepalive_timeout_ms": 20_000,
    "grpc.enable_channelz": 0,
    ...(maxConnectionAgeMs !== undefined && { "grpc.max_connection_age_ms": maxConnectionAgeMs }),
  };
}
