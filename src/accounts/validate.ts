import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../lib/errors/failure.ts";
import { isRequestId } from "../../lib/ids/request-id.ts";
import { formatUsd, maxPicoUsd } from "../../lib/money.ts";
import { isStorable } from "../../lib/text/storable.ts";

const longestName = 200;

/** An id that can be looked up. Throws what an unknown one would: ACCOUNT_NOT_FOUND or KEY_NOT_FOUND. */
export function requireId(id: string, what: "account" | "key"): string {
  if (isUuid(id)) {
    return id;
  }
  throw what === "account"
    ? failure(Reason.ACCOUNT_NOT_FOUND, "There is no such account.")
    : failure(Reason.KEY_NOT_FOUND, "There is no such key.");
}

/** A label for people. */
export function requireName(name: string): string {
  requireText("name", name);
  if (name.length <= longestName) {
    return name;
  }
  throw invalid("name", `A name may have at most ${longestName} characters.`);
}

/** The name that makes a movement of money idempotent. */
export function requireReference(reference: string): string {
  requireText("reference", reference);
  if (reference.length > 0 && reference.length <= longestName) {
    return reference;
  }
  throw invalid("reference", `A reference must have 1 to ${longestName} characters.`);
}

/** Why an account is frozen. */
export function requireReason(reason: string): string {
  requireText("reason", reason);
  if (reason.length > 0 && reason.length <= longestName) {
    return reason;
  }
  throw invalid("reason", `A reason must have 1 to ${longestName} characters.`);
}

/** What makes a request's repetition known. May be empty. */
export function requireRequestId(requestId: string): string {
  if (requestId === "" || isRequestId(requestId)) {
    return requestId;
  }
  throw invalid("request_id", "request_id must be 1 to 64 letters, digits, dashes or underscores.");
}

/** A text that every database keeps. */
function requireText(field: string, text: string): void {
  if (!isStorable(text)) {
    throw invalid(field, `${field} must not hold NUL characters or broken surrogate pairs.`);
  }
}

/** An amount of pico-USD that one movement may have. */
export function requireAmount(amount: bigint, field = "amount_pico_usd"): number {
  if (amount > 0n && amount <= maxPicoUsd) {
    return Number(amount);
  }
  throw invalid(field, `An amount must be above zero and at most ${formatUsd(maxPicoUsd)} USD.`);
}

/** A whole number from 1 up to a bound. */
export function requireCount(field: string, value: number, most: number): number {
  if (value >= 1 && value <= most) {
    return value;
  }
  throw invalid(field, `${field} must be from 1 to ${most}.`);
}

/** An INVALID_ARGUMENT about one field. */
export function invalid(field: string, message: string): Error {
  return failure(Reason.INVALID_ARGUMENT, message, { parameter: field });
}
