import type { IncomingMessage } from "node:http";
import type { PublicSurface } from "#lib/inference/surface-names.ts";
import type { Exchange } from "../exchange.ts";

/** The handler of a method on a path. */
export interface Endpoint {
  readonly verb: "GET" | "POST" | "PATCH" | "DELETE";
  /** The path in the router's syntax. */
  readonly path: string;
  /** Handles a request. `params` are the named parts of the path. */
  readonly handle: (exchange: Exchange, params: Readonly<Record<string, string>>) => void | Promise<void>;
}

/** An error in a surface's format. */
export interface ErrorAnswer {
  readonly status: number;
  /** The body as JSON text. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The part of a request's head that shows which surface's client sent it. */
export type RequestHead = Pick<IncomingMessage, "url" | "headers">;

/** Everything that distinguishes one public surface for the rest of the program. */
export interface Surface {
  /** The name, also used in receipts. */
  readonly name: PublicSurface;
  /** Paths that belong to it, with all below them. No surface claims a path that several have, such as the models. */
  readonly claims: readonly string[];
  /** Whether a request comes from one of its clients. Decides where the path does not. */
  readonly recognizes: (request: RequestHead) => boolean;
  /**
   * Features that its clients know from elsewhere and this service does not have, by the start of their path. A path
   * listed by one surface only belongs to it as if claimed.
   */
  readonly unavailable: Readonly<Record<string, string>>;
  readonly endpoints: readonly Endpoint[];
  /** Answers any thrown error: a RequestError, an error of the core, or a bug. */
  readonly errorOf: (error: unknown, requestId: string) => ErrorAnswer;
}
