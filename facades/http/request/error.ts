/** Statuses that a surface answers with by itself, before the core is asked to run anything. */
export type RequestErrorStatus = 400 | 404 | 405 | 408 | 413 | 415 | 417 | 431;

/**
 * A request that this surface refuses by itself. 400: a field, the body or the head is wrong; 404: no such
 * endpoint; 405: the endpoint has another verb; 408: it came too slowly; 413: the body is too large;
 * 415: it cannot be JSON; 417: it expects what cannot be; 431: the head is too large.
 */
export class RequestError extends Error {
  readonly status: RequestErrorStatus;
  /** The offending field as a path in the caller's own terms, such as "messages[0].content". Empty: none. */
  readonly param: string;

  constructor(status: RequestErrorStatus, message: string, param = "") {
    super(message);
    this.status = status;
    this.param = param;
  }
}

/** A field with a wrong value; the reason follows the path, as in "messages[0].content must be a string". */
export function invalidField(path: string, reason: string): RequestError {
  return new RequestError(400, `${path === "" ? "The body" : path} ${reason}.`, path);
}
