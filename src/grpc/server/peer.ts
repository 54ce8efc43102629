import { createContextKey } from "@connectrpc/connect";

/**
 * The address at the other end of the connection that a call came over, without the port.
 * Undefined: the call came from this very process.
 */
export const peerKey = createContextKey<string | undefined>(undefined, { description: "peer address" });
