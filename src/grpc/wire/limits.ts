/** The largest request message that a server takes: the public surfaces' 2 MiB body, translated, with room to spare. */
export const maxRequestBytes = 4 * 1024 * 1024;

/** The largest response message: 2,048 embeddings of 1,024 dimensions are 8 MiB. */
export const maxResponseBytes = 16 * 1024 * 1024;

/** The largest head of a call: names, values and what HTTP/2 counts for each. */
export const maxHeaderBytes = 32 * 1024;

/** Calls that a client may have under way over one connection; one with more opens another connection. */
export const maxStreams = 256;

/** Compressed messages that are inflated at the same time; each may become as long as a message may be. */
export const maxInflating = 4;
