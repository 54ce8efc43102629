import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { Access } from "#gen/tollgate/access/v1/access_pb.js";
import type { Overload } from "#lib/overload/monitor.ts";
import { readAccess } from "../access/required-access.ts";
import { overloaded } from "./overloaded.ts";

/**
 * Refuses new calls with OVERLOADED while the process is overloaded, before their credential is checked. Running calls
 * go on. Health checks and operators' calls are still answered: operators need them to see what is wrong.
 */
export function shedLoad(overload: Overload): Interceptor {
  return (next) => (request) => {
    if (overload.shortage !== undefined && isShed(request.method)) {
      return Promise.reject(overloaded());
    }
    return next(request); // no async function around it: that would cost each call three promises
  };
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
