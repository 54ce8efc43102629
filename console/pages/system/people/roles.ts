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

/** The roles to choose from. */
export const roleOptions = ([MemberRole.VIEWER, MemberRole.DEVELOPER, MemberRole.OWNER] as const).map((role) => ({
  value: String(role),
  text: `${roleNames[role]}: ${meanings[role]}`,
}));
