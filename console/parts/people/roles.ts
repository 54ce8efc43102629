import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";

/** The roles of members, for people. */
export const roleNames: Readonly<Record<MemberRole, string>> = {
  [MemberRole.UNSPECIFIED]: "none",
  [MemberRole.VIEWER]: "Viewer",
  [MemberRole.DEVELOPER]: "Developer",
  [MemberRole.OWNER]: "Owner",
};

/** What they may do. */
const meanings = {
  [MemberRole.VIEWER]: "sees everything",
  [MemberRole.DEVELOPER]: "keys, too",
  [MemberRole.OWNER]: "money and people, too",
} as const;

/** A role with what it may do. */
export function describeRole(role: MemberRole): string {
  return role === MemberRole.UNSPECIFIED ? roleNames[role] : `${roleNames[role]}: ${meanings[role]}`;
}

/** The roles to choose from. */
export const roleOptions = [MemberRole.VIEWER, MemberRole.DEVELOPER, MemberRole.OWNER].map((role) => ({
  value: String(role),
  text: describeRole(role),
}));
