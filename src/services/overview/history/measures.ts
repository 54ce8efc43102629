/** The measure of requests that were refused or failed, followed by the reason. */
export const refusedMeasure = "refused_";

/** The measure of a bucket of times to the first token, followed by its upper end in seconds. Buckets are cumulative. */
export const firstTokenMeasure = "first_token_";
