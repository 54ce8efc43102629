import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { startConnectServer } from "#src/wire/grpc/server/http/connect-server.ts";
import type { ServiceRegistration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";

/** A way from a caller to services, with whatever it takes in between. */
export interface Route {
  readonly transport: Transport;
  close(): Promise<void>;
}

export type OpenRoute = (
  services: readonly ServiceRegistration[],
  interceptors: readonly Interceptor[],
) => Promise<Route>;

const address = "127.0.0.1:0";

/** No server: the caller and the services share a process. */
export const openDirect: OpenRoute = async (services, interceptors) => ({
  transport: createDirectTransport(services, interceptors),
  close: async () => {},
});

/** Our gRPC client and our gRPC server. */
export const openChannel: OpenRoute = async (services, interceptors) => {
  const server = await startGrpcServer({ address, services, interceptors });
  const transport = createChannelTransport({ target: server.address });
  return {
    transport,
    async close() {
      transport.close();
      await server.stop(0);
    },
  };
};

/** A second implementation of a gRPC client and our gRPC server. */
export const openConnectNodeGrpc: OpenRoute = async (services, interceptors) => {
  const server = await startGrpcServer({ address, services, interceptors });
  const baseUrl = `http://${server.address}`;
  const sessionManager = new Http2SessionManager(baseUrl);
  return {
    transport: createGrpcTransport({ baseUrl, sessionManager }),
    async close() {
      sessionManager.abort();
      await server.stop(0);
    },
  };
};

/** A Connect client and our Connect server. */
export const openConnect: OpenRoute = async (services, interceptors) => {
  const server = await startConnectServer({ address, services, interceptors });
  return {
    transport: createConnectTransport({ baseUrl: `http://${server.address}`, httpVersion: "1.1" }),
    close: () => server.stop(0),
  };
};

/** Every route, by name. */
export const routes: readonly (readonly [string, OpenRoute])[] = [
  ["the direct transport", openDirect],
  ["the channel transport to the gRPC server", openChannel],
  ["connect-node's gRPC client to the gRPC server", openConnectNodeGrpc],
  ["connect-node's Connect client to the Connect server", openConnect],
];
