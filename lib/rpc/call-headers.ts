// The facts of an HTTP request that a facade passes to the core, in the headers of its call.

/** The name of the surface. */
export const surfaceHeader = "x-tollgate-surface";

/** The address of the client. */
export const clientAddressHeader = "x-tollgate-client-address";
