import type { Fields } from "../chat-completions/dialect.ts";
import type { HttpConnection, HttpRequest, HttpResponse } from "../http/connection.ts";

/** Asks a server for facts that it may or may not give. */
export class Probe {
  readonly #connection: HttpConnection;
  readonly #signal: AbortSignal;

  constructor(connection: HttpConnection, signal: AbortSignal) {
    this.#connection = connection;
    this.#signal = signal;
  }

  /** Calls, whatever comes of it. Throws ENGINE_FAILED without an answer. */
  send(request: HttpRequest): Promise<HttpResponse> {
    return this.#connection.send(request, this.#signal);
  }

  /** The JSON object of the first path that answers with one. */
  async json(...paths: readonly string[]): Promise<Fields | undefined> {
    for (const path of paths) {
      const found = objectIn(await this.text({ path }));
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  }

  /** The body of a call that succeeds. */
  async text(request: HttpRequest): Promise<string | undefined> {
    const { status, text } = await this.send(request);
    return status === 200 ? text : undefined;
  }
}

/** The JSON object that a text is. Undefined: it is none. */
export function objectIn(text: string | undefined): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}
