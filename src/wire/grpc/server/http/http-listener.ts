import type { RequestListener } from "node:http";
import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type HttpServerOptions, startHttpServer } from "#lib/door/http-server.ts";
import { failure } from "#lib/errors/failure.ts";
import { type ListeningServer, patienceMs } from "../listening-server.ts";

/** Options of a listener for HTTP/1.1. */
export interface HttpListenerOptions extends HttpServerOptions {
  /** `host:port`. Port 0 picks a free one. */
  readonly address: string;
  readonly handler: RequestListener;
  /** Ends the running calls with this error. Default: they are cut off when their time is over. */
  readonly endCalls?: (reason: ConnectError) => void;
}

/** Listens for HTTP/1.1. Throws when the address cannot be listened on. */
export async function startHttpListener(options: HttpListenerOptions): Promise<ListeningServer> {
  const { address, handler, endCalls = () => {} } = options;
  const server = await startHttpServer(handler, address, options);
  return {
    address: server.address,
    async stop(graceMs) {
      const grace = setTimeout(() => endCalls(failure(Reason.SHUTTING_DOWN, "The service is shutting down.")), graceMs);
      await server.close(graceMs + patienceMs);
      clearTimeout(grace);
    },
  };
}
