import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../errors/failure.ts";

/**
 * Reads which fields a request changes (AIP-134), by their names in the contract: those that the mask names, all for
 * "*", and without a mask those that are present. Throws INVALID_ARGUMENT for a name that is not among them.
 */
export function readUpdateMask<Field extends string>(
  mask: FieldMask | undefined,
  fields: Readonly<Record<Field, unknown>>,
): ReadonlySet<Field> {
  const names = Object.keys(fields) as Field[];
  const paths = mask?.paths ?? [];
  if (paths.length === 0) {
    return new Set(names.filter((name) => fields[name] !== undefined));
  }
  if (paths.length === 1 && paths[0] === "*") {
    return new Set(names);
  }
  const unknown = paths.find((path) => !(names as string[]).includes(path));
  if (unknown === undefined) {
    return new Set(paths as Field[]);
  }
  throw failure(Reason.INVALID_ARGUMENT, `update_mask may name ${names.join(" and ")}, or "*" alone.`, {
    parameter: "update_mask",
  });
}
