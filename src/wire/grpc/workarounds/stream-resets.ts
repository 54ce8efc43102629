import * as grpc from "@grpc/grpc-js";

/*
 * Wrong: Node.js ends a connection, and all calls on it, once its client has reset 1,000 streams and more than 33 a second.
 * A facade resets a call for each client that leaves: whoever leaves often enough would end everybody's calls. grpc-js
 * passes no other rate on.
 * Upstream: @grpc/grpc-js 1.14.7 (`Server.commonServerOptions`, private) on Node.js 26, whose HTTP/2 servers have the options
 * `streamResetBurst` and `streamResetRate`.
 * Still needed while test/wire/grpc/workarounds/stream-resets.test.ts sees a connection ended without it.
 * Delete when grpc-js passes options on to Node.
 */

/** The private part of a server that has the options of the HTTP/2 servers that it makes. */
interface Inside {
  commonServerOptions: { streamResetBurst?: number; streamResetRate?: number };
}

/** The most that Node takes, in streams and in streams a second. */
const unbounded = 2 ** 32 - 1;

/** Takes connections that may reset as many streams as they like. */
export function injectorWithoutResetRate(server: grpc.Server): grpc.ConnectionInjector {
  const inside = server as unknown as Inside;
  const { commonServerOptions: usual } = inside;
  inside.commonServerOptions = { ...usual, streamResetBurst: unbounded, streamResetRate: unbounded };
  try {
    return server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  } finally {
    inside.commonServerOptions = usual;
  }
}
