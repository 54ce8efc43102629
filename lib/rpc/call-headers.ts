// What a facade tells the core of an HTTP request, in the headers of its call.

/** Its surface, by its name. */
export const surfaceHeader = "x-tollgate-surface";

/** The address of its client. */
export const clientAddressHeader = "x-tollgate-client-address";
