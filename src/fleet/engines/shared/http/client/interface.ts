/** A header's value. A list where the name came more than once. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The request of a call. */
export interface RequestMessage {
  readonly method: "GET" | "POST";
  /** Path and query, beginning with a slash. */
  readonly path: string;
  /** Headers in visible ASCII, without `host` and the body's length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/**
 * Receives an answer as it arrives. After `onEnd` or `onError` nothing more is called; after an abort nothing at all. A
 * piece is part of a buffer that the next read overwrites: copy what is to be kept.
 */
export interface ResponseHandler {
  /** The final head. Informational answers are skipped. */
  onStart(status: number, headers: ResponseHeaders): void;
  onData(piece: Buffer): void;
  /** All pieces of one socket read were passed, and the answer is not over. */
  onRead(): void;
  onEnd(): void;
  onError(error: Error): void;
}

/** A running call, as its owner controls it. */
export interface HttpCall {
  /** Stops reading from the socket for now. */
  pause(): void;
  resume(): void;
  /** Gives the call up and closes its connection. */
  abort(): void;
}

/** The server broke the protocol or the connection. */
export class HttpFault extends Error {
  override readonly name = "HttpFault";
  readonly code: "CONNECT_TIMEOUT" | "SILENT" | "CLOSED" | "MALFORMED" | "DESTROYED";

  constructor(code: HttpFault["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** A fault in the bytes that the server sent. */
export function malformed(what: string): HttpFault {
  return new HttpFault("MALFORMED", `the answer is no HTTP/1.1: ${what}`);
}
