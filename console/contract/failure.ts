import { Code, ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "../../lib/errors/detail.ts";
import { answeredIdHeader } from "../../lib/rpc/call-headers.ts";
import { siteName } from "./site.ts";

/** The message for people about a failed call. `isRepeated`: the page makes the same call again by itself. */
export function toMessage(error: unknown, isRepeated = false): string {
  const { code, rawMessage, metadata } = ConnectError.from(error);
  if (isLost(error)) {
    return `${siteName()} cannot be reached. ${isRepeated ? "This page tries again by itself." : "Try again in a moment."}`;
  }
  if (code === Code.PermissionDenied) {
    return rawMessage === "" ? "Your role does not allow this." : sentence(rawMessage);
  }
  const told = rawMessage === "" ? "Something went wrong; the log of the service says more." : sentence(rawMessage);
  const id = metadata.get(answeredIdHeader);
  return isFault(code) && id !== null ? `${told} Its log has it as ${id}.` : told;
}

/** Whether the service itself is to blame, so that somebody has to look. */
function isFault(code: Code): boolean {
  return code === Code.Internal || code === Code.Unknown || code === Code.DataLoss;
}

/** Whether the server could not be reached, so that the same call may succeed later. */
export function isLost(error: unknown): boolean {
  if (error === undefined) {
    return false;
  }
  const { code, cause } = ConnectError.from(error);
  // The core answered: it is somebody else who does not.
  if (readDetail(error)?.reason === Reason.PAYMENT_PROVIDER_FAILED) {
    return false;
  }
  // A browser's error when nothing answers, or an answer breaks off.
  return code === Code.Unavailable || (code === Code.Unknown && cause instanceof TypeError);
}

/** Whether the same call would fail again: the thing does not exist, may not be seen, or the request is invalid. */
export function isFinal(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code === Code.NotFound || code === Code.PermissionDenied || code === Code.InvalidArgument;
}

/** Whether the page itself cancelled the call. */
export function isCancelled(error: unknown): boolean {
  return error !== undefined && ConnectError.from(error).code === Code.Canceled;
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
