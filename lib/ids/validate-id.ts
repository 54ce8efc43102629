import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../errors/failure.ts";

/** Returns an id that can be looked up. Otherwise throws as for an unknown id: ACCOUNT_NOT_FOUND or KEY_NOT_FOUND. */
export function requireId(id: string, what: "account" | "key"): string {
  if (isUuid(id)) {
    return id;
  }
  throw what === "account"
    ? failure(Reason.ACCOUNT_NOT_FOUND, "There is no such account.")
    : failure(Reason.KEY_NOT_FOUND, "There is no such key.");
}

/** The error INVALID_ARGUMENT about one field. */
export function invalid(field: string, message: string): Error {
  return failure(Reason.INVALID_ARGUMENT, message, { parameter: field });
}
