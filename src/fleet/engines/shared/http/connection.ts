import { readDetail } from "#lib/errors/detail.ts";
import { engineFailed, engineUnreachable } from "../faults.ts";
import type { HttpCall, ResponseHandler, ResponseHeaders } from "./client/interface.ts";
import { HttpPool, type PoolOptions } from "./client/pool.ts";

/** How to reach a server. The longest silence is only a backstop: the caller's signal ends every call sooner. */
export interface ConnectionOptions extends PoolOptions {
  /** The `authorization` header, for a server that demands one. */
  readonly authorization?: string;
}

/** A whole answer. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly text: string;
}

/** A call's body as JSON text, and its headers beyond our own. */
export interface HttpRequest {
  readonly path: string;
  /** JSON text. Undefined: the call is a GET. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The most bytes of a gathered answer. Default: 1 MiB. */
  readonly mostBytes?: number;
}

const usualMostBytes = 1024 * 1024;

/** The most bytes of a metrics page, and of a list of a prompt's tokens. */
export const mostMetricsBytes = 4 * 1024 * 1024;
export const mostTokenListBytes = 32 * 1024 * 1024;

/** The connections to one server, kept open between calls. */
export class HttpConnection {
  /** The server's origin: its URL without a path. */
  readonly origin: string;
  readonly #pool: HttpPool;
  readonly #prefix: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** Takes a base URL, with or without the `/v1` that OpenAI clients expect. */
  constructor(url: string, options: ConnectionOptions) {
    const parsed = new URL(url);
    this.origin = parsed.origin;
    this.#prefix = parsed.pathname.replace(/(?<!\/)\/+$/, "").replace(/\/v1$/, "");
    this.#pool = new HttpPool(parsed.origin, options);
    this.#headers = {
      "accept-encoding": "identity", // compression would delay tokens
      ...(options.authorization !== undefined && { authorization: options.authorization }),
    };
  }

  /** Sends a call and passes the pieces of its answer to the handler. */
  dispatch({ path, body, headers }: HttpRequest, handler: ResponseHandler): HttpCall {
    const isPost = body !== undefined;
    const message = {
      method: isPost ? "POST" : "GET",
      path: this.#prefix + path,
      headers: { ...this.#headers, ...(isPost && { "content-type": "application/json" }), ...headers },
      body,
    } as const;
    return this.#pool.dispatch(message, handler);
  }

  /**
   * Sends a call and waits for its complete answer. Throws ENGINE_FAILED without one, the signal's reason when aborted.
   */
  async send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    signal.throwIfAborted();
    const whole = new WholeResponse(this.origin, request.mostBytes ?? usualMostBytes);
    const call = this.dispatch(request, whole);
    const onAbort = () => {
      call.abort();
      whole.onError(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await whole.response;
    } catch (error) {
      signal.throwIfAborted();
      call.abort();
      throw readDetail(error) === undefined ? connectionFailed(this.origin, error) : error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Breaks off running calls. */
  close(): Promise<void> {
    this.#pool.destroy();
    return Promise.resolve();
  }
}

/** Gathers an answer, up to a bound. */
class WholeResponse implements ResponseHandler {
  readonly #origin: string;
  readonly #mostBytes: number;
  readonly #result = Promise.withResolvers<HttpResponse>();
  readonly #pieces: Buffer[] = [];
  #length = 0;
  #status = 0;
  #headers: ResponseHeaders = {};

  constructor(origin: string, mostBytes: number) {
    this.#origin = origin;
    this.#mostBytes = mostBytes;
  }

  get response(): Promise<HttpResponse> {
    return this.#result.promise;
  }

  onStart(status: number, headers: ResponseHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onData(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#mostBytes) {
      this.onError(engineFailed(`${this.#origin} answered more than ${this.#mostBytes} bytes`, false));
    } else {
      this.#pieces.push(Buffer.from(piece)); // the socket reuses these bytes
    }
  }

  onRead(): void {}

  onEnd(): void {
    const text = Buffer.concat(this.#pieces).toString("utf8");
    this.#result.resolve({ status: this.#status, headers: this.#headers, text });
  }

  onError(error: Error): void {
    this.#result.reject(error);
  }
}

/** The error for a connection that failed or broke. */
export function connectionFailed(origin: string, cause: unknown) {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const what = `${origin}: ${code ?? (cause instanceof Error ? cause.message : cause)}`;
  return unreachable.has(code) ? engineUnreachable(what, cause) : engineFailed(what, true, cause);
}

/** Error codes of a connection that was never established. */
const unreachable: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "CONNECT_TIMEOUT",
]);
