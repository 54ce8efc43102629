import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { Access, access, MemberRole, member_role, Role, role } from "#gen/tollgate/access/v1/access_pb.js";
import { isForPeople } from "#lib/rpc/for-people.ts";
import { forwardedMethods } from "./services.ts";

/** Who uses the console: an operator with a role, a customer with a key, who reads what belongs to its account, or a member. */
export type ConsoleRole = Role.OWNER | Role.BILLING | Role.READER | "customer" | "member";

/** The methods that a role may call, from the contract's own options. The core checks them again. */
export function allowedMethods(who: ConsoleRole): readonly DescMethod[] {
  return forwardedMethods.filter((method) => isAllowed(method, who));
}

function isAllowed(method: DescMethod, who: ConsoleRole): boolean {
  const needed = getOption(method, access);
  if (who === "member" && (isForPeople(needed) || getOption(method, member_role) > MemberRole.UNSPECIFIED)) {
    return true;
  }
  const least = getOption(method, role) || Role.OWNER;
  switch (needed) {
    case Access.PUBLIC:
    case Access.PUBLIC_OR_CALLER:
      return true;
    case Access.OPERATOR:
      return who !== "customer" && who !== "member" && who >= least;
    case Access.CALLER_OR_OPERATOR:
      return who === "customer" ? least === Role.READER : who !== "member" && who >= least;
    default:
      return false;
  }
}
