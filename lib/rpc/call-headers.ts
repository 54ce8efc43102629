// The facts of an HTTP request that a facade passes to the core, in the headers of its call.

/** The name of the surface. */
export const surfaceHeader = "x-tollgate-surface";

/** The id of the HTTP request, for calls that are refused before their message is read. */
export const requestIdHeader = "x-tollgate-request-id";

/** The address of the client. */
export const clientAddressHeader = "x-tollgate-client-address";
