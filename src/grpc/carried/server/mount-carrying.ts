import { Code, ConnectError } from "@connectrpc/connect";
import type * as grpc from "@grpc/grpc-js";
import { CallsService } from "#gen/tollgate/calls/v1/calls_service_pb.js";
import { servedMethods } from "../../invoke.ts";
import { methodPath } from "../../server/mount-service.ts";
import { registration } from "../../server/registration.ts";
import { type Batch, decodeBatch } from "../frames.ts";
import type { Bounds } from "./interface.ts";
import { ServedCarrier } from "./served-carrier.ts";

/** The service that carries calls, for reflection. It has no ordinary implementation: its messages stay bytes. */
export const callsRegistration = registration(CallsService, {});

/**
 * The service's method with its path. Interceptors do not see the stream itself; they see each call that it carries.
 */
export const carryMethod = servedMethods(callsRegistration, []).map((served) => [methodPath(served), served] as const);

/** The streams of a server that carry calls. */
export interface Carrying {
  /** Tells all callers that the core is shutting down. Running calls may finish. */
  leave(): void;
}

/** Serves a grpc-js server's methods also over streams that carry calls. */
export function mountCarrying(server: grpc.Server, bounds: Bounds): Carrying {
  const carriers = new Set<ServedCarrier>();
  let isLeaving = false;
  const carry = (call: grpc.ServerDuplexStream<Batch | ConnectError, Buffer>) => {
    const carrier = new ServedCarrier(call, bounds);
    carriers.add(carrier);
    call.once("close", () => carriers.delete(carrier));
    if (isLeaving) {
      carrier.leave();
    }
  };
  for (const [path] of carryMethod) {
    server.addService({ carry: { path, requestStream: true, responseStream: true, ...codec } }, { carry });
  }
  return {
    leave() {
      isLeaving = true;
      for (const carrier of carriers) {
        carrier.leave();
      }
    },
  };
}

const codec = {
  requestSerialize: (): Buffer => Buffer.alloc(0), // a server sends no requests
  requestDeserialize(bytes: Buffer): Batch | ConnectError {
    try {
      return decodeBatch(bytes);
    } catch (cause) {
      return new ConnectError(`The frames cannot be read: ${(cause as Error).message}`, Code.InvalidArgument);
    }
  },
  responseSerialize: (bytes: Buffer): Buffer => bytes,
  responseDeserialize: (bytes: Buffer): Buffer => bytes,
};
