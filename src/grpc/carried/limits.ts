/** Longer request messages go over calls of their own, so that they do not delay the calls on the stream. */
export const maxCarriedRequestBytes = 256 * 1024;

/** The most concurrent calls on a stream. Further calls go over streams of their own. */
export const maxCarriedCalls = 4096;

/** The most response messages that may be on their way or unread before the caller gives credit. */
export const creditMessages = 32;

/** The same in bytes: at this many, no further message is sent. The last message may exceed it. */
export const creditBytes = 1024 * 1024;

/** Longer response messages are sent in pieces of this many bytes, so that other calls' messages can go in between. */
export const pieceBytes = 64 * 1024;

/** Frames of more bytes are sent before the event-loop turn ends, so that a gRPC message stays far below its bound. */
export const batchBytes = 512 * 1024;
