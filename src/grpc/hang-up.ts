import { type ConnectError, createContextKey } from "@connectrpc/connect";

/**
 * Ends a call from its server's side with an error, also while the caller does not read and so never asks for the
 * message that would tell. Undefined: the transport cannot.
 */
export const hangUpKey = createContextKey<((error: ConnectError) => void) | undefined>(undefined, {
  description: "hang up",
});
