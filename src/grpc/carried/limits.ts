/** Request messages that are longer go over calls of their own, so that none holds up many. */
export const maxCarriedRequestBytes = 256 * 1024;

/** Calls that a stream carries at the same time; further ones go over calls of their own. */
export const maxCarriedCalls = 4096;

/** Messages of a response that may be on their way or unread before the caller has room for more. */
export const creditMessages = 32;

/** The same in bytes: with as many on their way or unread, no further message is sent. The last one may pass it. */
export const creditBytes = 1024 * 1024;

/** Response messages that are longer travel in pieces of so many bytes, between which those of other calls have their turn. */
export const pieceBytes = 64 * 1024;

/** Frames of more bytes leave before the turn of the event loop ends: a message of gRPC must stay far below its bound. */
export const batchBytes = 512 * 1024;
