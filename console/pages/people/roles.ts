import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";

/** What members may do, for people. */
export const roleNames: Readonly<Record<MemberRole, string>> = {
  [MemberRole.UNSPECIFIED]: "none",
  [MemberRole.VIEWER]: "Viewer: sees everything",
  [MemberRole.DEVELOPER]: "Developer: keys, too",
  [MemberRole.OWNER]: "Owner: money and people, too",
};

/** The roles to choose from. */
export const roleOptions = [MemberRole.VIEWER, MemberRole.DEVELOPER, MemberRole.OWNER].map((role) => ({
  value: String(role),
  text: roleNames[role],
}));
