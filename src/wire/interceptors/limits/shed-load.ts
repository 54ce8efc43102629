import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import { Access } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import type { Overload } from "#lib/overload/monitor.ts";
import { peerKey } from "../../grpc/server/peer.ts";
import { readAccess } from "../access/required-access.ts";
import { readRefused } from "../observation/caller-facts.ts";
import { overloaded } from "./overloaded.ts";

/**
 * Refuses new calls with OVERLOADED while the process is overloaded, before their credential is checked. Running calls
 * go on. Health checks and operators' calls are still answered: operators need them to see what is wrong.
 */
export function shedLoad(overload: Overload): Interceptor {
  return (next) => (request) => {
    if (overload.shortage !== undefined && isShed(request.method) && !tellsRefusal(request)) {
      return Promise.reject(overloaded());
    }
    return next(request); // no async function around it: that would cost each call three promises
  };
}

/** Whether a facade of this process only tells of a request that it refused: a few in ten seconds, for the record. */
function tellsRefusal(request: UnaryRequest | StreamRequest): boolean {
  const isFromHere = request.contextValues.get(peerKey) === undefined;
  return isFromHere && request.method === AccountsService.method.identifyCaller && readRefused(request) > 0;
}

/** Whether an overloaded process refuses calls of a method. */
export function isShed(method: DescMethod): boolean {
  switch (readAccess(method)) {
    case Access.CALLER:
    case Access.MEMBER:
    case Access.PUBLIC_OR_CALLER:
      return true;
    case Access.PUBLIC:
      return method.parent.typeName.startsWith("tollgate.");
    default:
      return false;
  }
}
