import { isIP, type LookupFunction } from "node:net";
import { type Dispatcher, Pool } from "undici";
import { detailOf } from "../../../../lib/errors/detail.ts";
import { engineFailed, engineUnreachable } from "../faults.ts";

/** How to reach a server. */
export interface ConnectionOptions {
  /** Connections at most; calls beyond that wait for one. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
  /** Where to connect instead of looking the URL's host up; TLS and the Host header keep the name. */
  readonly address?: string;
  /** The header `authorization`, for a server that demands one. */
  readonly authorization?: string;
  /** The longest silence within an answer. Only a backstop: the caller's signal bounds every call sooner. */
  readonly silenceTimeoutMs: number;
}

/** A whole answer. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A call's body as JSON text, and the headers beyond our own. */
export interface HttpRequest {
  readonly path: string;
  /** JSON text; undefined: a GET. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes of an answer that is waited for, at most. Default: 1 MiB. */
  readonly mostBytes?: number;
}

const usualMostBytes = 1024 * 1024;

/** Bytes of a page of metrics at most, and of a list of a prompt's tokens. */
export const mostMetricsBytes = 4 * 1024 * 1024;
export const mostTokenListBytes = 32 * 1024 * 1024;

/** The connections to one server, kept open between calls. */
export class HttpConnection {
  /** Where the server listens, without a path. */
  readonly origin: string;
  readonly #pool: Pool;
  readonly #prefix: string;
  readonly #authorization: string | undefined;

  /** Takes a base URL with or without the `/v1` that OpenAI clients put there. */
  constructor(url: string, options: ConnectionOptions) {
    const parsed = new URL(url);
    this.origin = parsed.origin;
    this.#authorization = options.authorization;
    this.#prefix = parsed.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
    this.#pool = new Pool(parsed.origin, {
      connections: options.connections,
      connect: {
        timeout: options.connectTimeoutMs,
        ...(options.address !== undefined && { lookup: lookupOf(options.address) }),
      },
      // Shorter than the engines keep idle connections (5 s), or a call meets one that is just being closed.
      keepAliveTimeout: 3000,
      keepAliveTimeoutThreshold: 2000,
      allowH2: false, // its streams would share one connection, and a stall of one would be a stall of all
      headersTimeout: options.silenceTimeoutMs,
      bodyTimeout: options.silenceTimeoutMs,
    });
  }

  /** Sends a call and hands its answer's pieces to the handler. */
  dispatch(request: HttpRequest, handler: Dispatcher.DispatchHandler): void {
    this.#pool.dispatch(this.#options(request), handler);
  }

  /** Sends a call and waits for its whole answer. Throws ENGINE_FAILED without one, the signal's reason when aborted. */
  async send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    signal.throwIfAborted();
    try {
      const answer = await this.#pool.request({ ...this.#options(request), signal });
      const text = await this.#readText(answer.body, request.mostBytes ?? usualMostBytes);
      return { status: answer.statusCode, headers: answer.headers, text };
    } catch (error) {
      signal.throwIfAborted();
      if (detailOf(error) !== undefined) {
        throw error;
      }
      throw connectionFailed(this.origin, error);
    }
  }

  async #readText(body: AsyncIterable<Buffer>, mostBytes: number): Promise<string> {
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const piece of body) {
      length += piece.length;
      if (length > mostBytes) {
        throw engineFailed(`${this.origin} answered more than ${mostBytes} bytes`, false);
      }
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString("utf8");
  }

  /** Breaks off what runs. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }

  #options({ path, body, headers }: HttpRequest): Dispatcher.DispatchOptions {
    const post = body !== undefined;
    return {
      path: this.#prefix + path,
      method: post ? "POST" : "GET",
      headers: {
        "accept-encoding": "identity", // compression would hold tokens back
        ...(post && { "content-type": "application/json" }),
        ...(this.#authorization !== undefined && { authorization: this.#authorization }),
        ...headers,
      },
      body: body ?? null,
    };
  }
}

/** Finds one address, whatever the host. */
function lookupOf(address: string): LookupFunction {
  const family = isIP(address);
  return (_, { all }, found) => (all ? found(null, [{ address, family }]) : found(null, address, family));
}

/** The error for a connection that could not be made or broke. */
export function connectionFailed(origin: string, cause: unknown) {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const what = `${origin}: ${code ?? (cause instanceof Error ? cause.message : cause)}`;
  return unreachable.has(code) ? engineUnreachable(what, cause) : engineFailed(what, true, cause);
}

/** Codes of a connection that was never made. */
const unreachable: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);
