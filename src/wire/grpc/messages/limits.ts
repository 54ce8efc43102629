/**
 * The largest request message that a server takes, in bytes: the public surfaces' 2 MiB body after translation, with
 * room to spare.
 */
export const maxRequestBytes = 4 * 1024 * 1024;

/** The largest response message, in bytes: 2,048 embeddings of 1,024 dimensions have 8 MiB. */
export const maxResponseBytes = 16 * 1024 * 1024;

/** The largest head of a call, in bytes: names, values and HTTP/2's overhead for each. */
export const maxHeaderBytes = 32 * 1024;

/** The most concurrent calls of a client over one connection. A client with more opens another connection. */
export const maxStreams = 256;

/** The most compressed messages that are inflated at a time. Each may grow to a message's largest size. */
export const maxInflating = 4;
