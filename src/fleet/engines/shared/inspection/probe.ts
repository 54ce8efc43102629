import type { Fields } from "../chat-completions/dialect.ts";
import type { HttpConnection, HttpRequest, HttpResponse } from "../http/connection.ts";

/** Asks a server for facts that it may or may not report. */
export class Probe {
  readonly #connection: HttpConnection;
  readonly #signal: AbortSignal;

  constructor(connection: HttpConnection, signal: AbortSignal) {
    this.#connection = connection;
    this.#signal = signal;
  }

  /** Makes a call and returns whatever is answered. Throws ENGINE_FAILED without an answer. */
  send(request: HttpRequest): Promise<HttpResponse> {
    return this.#connection.send(request, this.#signal);
  }

  /** The JSON object of the first path that answers with one. Undefined: none does. */
  async json(...paths: readonly string[]): Promise<Fields | undefined> {
    for (const path of paths) {
      const found = objectIn(await this.text({ path }));
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  }

  /** The body of a successful call. Undefined: the call failed with a status. */
  async text(request: HttpRequest): Promise<string | undefined> {
    const { status, text } = await this.send(request);
    return status === 200 ? text : undefined;
  }
}

/** Parses a JSON object. Undefined: the text is not one. */
export function objectIn(text: string | undefined): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}
