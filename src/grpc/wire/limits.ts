/** The largest request message that a server takes: the public surfaces' 2 MiB body, translated, with room to spare. */
export const maxRequestBytes = 4 * 1024 * 1024;

/** The largest response message: 2,048 embeddings of 1,024 dimensions are 8 MiB. */
export const maxResponseBytes = 16 * 1024 * 1024;
