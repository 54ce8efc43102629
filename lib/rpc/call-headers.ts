// The facts of an HTTP request that a facade passes to the core, in the headers of its call, and what a core tells in those of
// its answer.

/** The name of the surface. */
export const surfaceHeader = "x-tollgate-surface";

/** The id of the request that a call belongs to: known also where the call is refused before its message is read. */
export const requestIdHeader = "x-tollgate-request-id";

/** In every answer, refused or not: the request's id, by which the log, the record and the receipt are found. */
export const answeredIdHeader = "x-request-id";

/** The status with which a facade has refused the request that its call tells of: known also where the call is refused. */
export const refusedStatusHeader = "x-tollgate-refused-status";

/** The address of the client. */
export const clientAddressHeader = "x-tollgate-client-address";

/** In the answer of a standby: the moment that it is of. */
export const asOfHeader = "x-tollgate-as-of";
