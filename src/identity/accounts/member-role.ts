import type { SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { Member, type MemberRole } from "#src/storage/entities/people/member.ts";

/**
 * Throws PERMISSION_DENIED unless a person still has one of some roles, in a transaction that has locked the account: a call is
 * admitted by what was known seconds before, and what it makes would outlive the role.
 */
export async function requireMemberRole(
  em: SqlEntityManager,
  { accountId, personId }: { readonly accountId: string; readonly personId: string },
  ...roles: readonly MemberRole[]
): Promise<void> {
  if ((await em.count(Member, { accountId, personId, role: { $in: [...roles] } })) === 0) {
    throw failure(Reason.PERMISSION_DENIED, "Your role in the account does not let you do this any more.");
  }
}
