import type { IncomingMessage } from "node:http";
import type { PublicSurface } from "../../../lib/surface-names.ts";
import type { Exchange } from "../exchange.ts";

/** The handler of a method on a path. */
export interface Endpoint {
  readonly verb: "GET" | "POST";
  /** The path as the router takes it. */
  readonly path: string;
  /** Gets the parts of the path that have a name. */
  readonly handle: (exchange: Exchange, params: Readonly<Record<string, string>>) => void | Promise<void>;
}

/** An error as a surface answers it. */
export interface ErrorAnswer {
  readonly status: number;
  /** The body as JSON text. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The part of a request's head that tells which surface's client sent it. */
export type RequestHead = Pick<IncomingMessage, "url" | "headers">;

/** Everything that sets one public surface apart for the rest of the program. */
export interface Surface {
  /** The name that receipts have, too. */
  readonly name: PublicSurface;
  /** Paths that belong to it, with all below them. No surface claims a path that several have, such as the models. */
  readonly claims: readonly string[];
  /** Whether a request is of one of its clients: chooses where the path does not. */
  readonly recognizes: (request: RequestHead) => boolean;
  /**
   * Features that its clients know from elsewhere and that this service does not have, by the start of their path.
   * A path that one surface alone has here belongs to it as if it were claimed.
   */
  readonly unavailable: Readonly<Record<string, string>>;
  readonly endpoints: readonly Endpoint[];
  /** Answers whatever was thrown: a RequestError, an error of the core, or a bug. */
  readonly errorOf: (error: unknown, requestId: string) => ErrorAnswer;
}
