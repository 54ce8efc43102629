import { createContextKey } from "@connectrpc/connect";

/**
 * The address at the other end of a call's connection, without the port. Undefined: the call came from this process.
 */
export const peerKey = createContextKey<string | undefined>(undefined, { description: "peer address" });
