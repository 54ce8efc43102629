import { type ConnectError, createContextKey } from "@connectrpc/connect";

/**
 * Ends a call from the server's side with an error, even while the caller does not read and so would not receive the
 * error. Undefined: the transport cannot do it.
 */
export const hangUpKey = createContextKey<((error: ConnectError) => void) | undefined>(undefined, {
  description: "hang up",
});
