import { Code, ConnectError } from "@connectrpc/connect";
import { siteName } from "./site.ts";

/** The message for people about a failed call. */
export function toMessage(error: unknown): string {
  const { code, rawMessage } = ConnectError.from(error);
  if (isLost(error)) {
    return `${siteName()} cannot be reached. This page tries again by itself.`;
  }
  if (code === Code.PermissionDenied) {
    return rawMessage === "" ? "Your role does not allow this." : sentence(rawMessage);
  }
  return rawMessage === "" ? "Something went wrong; the log of the service says more." : sentence(rawMessage);
}

/** Whether the server could not be reached, so that the same call may succeed later. */
export function isLost(error: unknown): boolean {
  if (error === undefined) {
    return false;
  }
  const { code, cause } = ConnectError.from(error);
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
