import { Code, ConnectError } from "@connectrpc/connect";
import type * as grpc from "@grpc/grpc-js";
import { CallsService } from "#gen/tollgate/calls/v1/calls_service_pb.js";
import { servedMethods } from "../../invoke.ts";
import { methodPath } from "../../server/mount-service.ts";
import { registration } from "../../server/registration.ts";
import { type Batch, decodeBatch } from "../frames.ts";
import type { Bounds } from "./interface.ts";
import { ServedCarrier } from "./served-carrier.ts";

/** The service that carries calls, as reflection tells of it. It has no implementation of the usual form: its messages stay bytes. */
export const callsRegistration = registration(CallsService, {});

/** Its method by its path. No interceptor sees the stream itself: they see each call that it carries. */
export const carryMethod = servedMethods(callsRegistration, []).map((served) => [methodPath(served), served] as const);

/** The streams of a server that carry calls. */
export interface Carrying {
  /** Tells all callers that the core goes: calls under way may finish. */
  leave(): void;
}

/** Serves the methods of a grpc-js server over streams that carry calls, too. */
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
