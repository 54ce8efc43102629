import type { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { ConsoleSession } from "#src/storage/entities/operators/console-session.ts";
import type { Dependencies } from "./dependencies.ts";

/** The stored name of a role. Throws INVALID_ARGUMENT for a role that no session has. */
export function requireRole({ readRole }: Dependencies, role: Role): NonNullable<ConsoleSession["role"]> {
  const named = readRole(role);
  if (named === undefined) {
    throw failure(Reason.INVALID_ARGUMENT, "role must be ROLE_READER, ROLE_BILLING or ROLE_OWNER.", {
      parameter: "role",
    });
  }
  return named;
}
