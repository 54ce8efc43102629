import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import type { OperatorSchema } from "#gen/tollgate/operators/v1/operator_pb.js";
import type { Operator } from "#src/storage/entities/operators/operator.ts";

const roles = { reader: Role.READER, billing: Role.BILLING, owner: Role.OWNER } as const;

/** A stored role as the contract's. */
export function toRole(role: Operator["role"]): Role {
  return roles[role];
}

/** A role of the contract as the stored one. Undefined: it is no role of operators. */
export function readRole(role: Role): Operator["role"] | undefined {
  return (Object.keys(roles) as Operator["role"][]).find((name) => roles[name] === role);
}

/** An operator as a message of the contract, without anything that could be used in the token's place. */
export function operatorMessage({
  id,
  name,
  role,
  createdAt,
  revokedAt,
}: Operator): MessageInitShape<typeof OperatorSchema> {
  return {
    id,
    name,
    role: toRole(role),
    createdAt: timestampFromDate(createdAt),
    ...(revokedAt ? { revokedAt: timestampFromDate(revokedAt) } : {}),
  };
}
