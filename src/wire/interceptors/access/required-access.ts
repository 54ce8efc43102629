import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { ServerReflection as ReflectionV1 } from "#gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ReflectionV1Alpha } from "#gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Access, access, type MemberRole, member_role, Role, role } from "#gen/tollgate/access/v1/access_pb.js";

/** Services that a prober or a tool calls before it has a credential. */
const standardAccess: ReadonlyMap<string, Access> = new Map(
  [Health, ReflectionV1, ReflectionV1Alpha].map(({ typeName }) => [typeName, Access.PUBLIC]),
);

const accesses = new WeakMap<DescMethod, Access>();

/**
 * The access of a method: from its own declaration, or from the table of standard services, whose files are not ours.
 */
export function readAccess(method: DescMethod): Access {
  let found = accesses.get(method);
  if (found === undefined) {
    const standard = standardAccess.get(method.parent.typeName) ?? Access.UNSPECIFIED;
    found = hasOption(method, access) ? getOption(method, access) : standard;
    accesses.set(method, found);
  }
  return found;
}

const leastRoles = new WeakMap<DescMethod, Role>();

/** The lowest operator role that may call a method. */
export function readRole(method: DescMethod): Role {
  let found = leastRoles.get(method);
  if (found === undefined) {
    found = getOption(method, role) || Role.OWNER;
    leastRoles.set(method, found);
  }
  return found;
}

const leastMemberRoles = new WeakMap<DescMethod, MemberRole>();

/** The lowest role of an account's member that may call a method. Unspecified: no member may. */
export function readMemberRole(method: DescMethod): MemberRole {
  let found = leastMemberRoles.get(method);
  if (found === undefined) {
    found = getOption(method, member_role);
    leastMemberRoles.set(method, found);
  }
  return found;
}
