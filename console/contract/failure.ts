import { Code, ConnectError } from "@connectrpc/connect";

/** What people are told of a failed call. */
export function toMessage(error: unknown): string {
  const { code, rawMessage } = ConnectError.from(error);
  if (isLost(error)) {
    return "Tollgate cannot be reached. This page tries again by itself.";
  }
  if (code === Code.PermissionDenied) {
    return rawMessage === "" ? "Your role does not allow this." : sentence(rawMessage);
  }
  return rawMessage === "" ? "Something went wrong; the log of Tollgate says more." : sentence(rawMessage);
}

/** Whether the server was not there to answer, so that the same call may work later. */
export function isLost(error: unknown): boolean {
  if (error === undefined) {
    return false;
  }
  const { code, cause } = ConnectError.from(error);
  // What a browser says when nothing answers, or an answer breaks off.
  return code === Code.Unavailable || (code === Code.Unknown && cause instanceof TypeError);
}

/** Whether the same call would fail in the same way: there is no such thing, or nobody may see it. */
export function isFinal(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code === Code.NotFound || code === Code.PermissionDenied || code === Code.InvalidArgument;
}

/** Whether the call was given up by the page itself. */
export function isCancelled(error: unknown): boolean {
  return error !== undefined && ConnectError.from(error).code === Code.Canceled;
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
