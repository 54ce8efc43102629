import { MemberRole as WiredRole } from "#gen/tollgate/access/v1/access_pb.js";
import type { MemberRole } from "#src/storage/entities/people/member.ts";

const wired = {
  viewer: WiredRole.VIEWER,
  developer: WiredRole.DEVELOPER,
  owner: WiredRole.OWNER,
} as const satisfies Record<MemberRole, WiredRole>;

/** A member's role in the contract's form. */
export function toMemberRole(role: MemberRole): WiredRole {
  return wired[role];
}

/** Undefined: the contract's value is none that a member has. */
export function readMemberRole(role: WiredRole): MemberRole | undefined {
  return (Object.keys(wired) as MemberRole[]).find((name) => wired[name] === role);
}
