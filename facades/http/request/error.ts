/** Statuses with which a surface itself answers, before it asks the core to run anything. */
export type RequestErrorStatus = 400 | 404 | 405 | 408 | 413 | 415 | 417 | 431;

/** The header of a compressed body, and what `RequestError.param` says where it is at fault. */
export const encodingHeader = "content-encoding";

/**
 * A request that the surface itself refuses. 400: a field, the body or the head is wrong; 404: no such endpoint; 405:
 * the endpoint has another verb; 408: the body arrived too slowly; 413: the body is too large; 415: the body cannot be
 * JSON; 417: an unsupported expectation; 431: the head is too large.
 */
export class RequestError extends Error {
  readonly status: RequestErrorStatus;
  /** The path of the wrong field in the caller's own terms, such as "messages[0].content", or `encodingHeader`. Empty: none. */
  readonly param: string;

  constructor(status: RequestErrorStatus, message: string, param = "") {
    super(message);
    this.status = status;
    this.param = param;
  }
}

/**
 * The error for a field with a wrong value. The reason follows the path, as in "messages[0].content must be a string".
 */
export function invalidField(path: string, reason: string): RequestError {
  return new RequestError(400, `${path === "" ? "The body" : path} ${reason}.`, path);
}
