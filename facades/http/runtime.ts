import type { IncomingMessage } from "node:http";
import type { BoundName } from "#lib/door/bounds.ts";
import type { Random } from "#lib/ids/random.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { IsTrustedProxy } from "./request/client-address.ts";

/** Receives the events of HTTP exchanges. */
export interface ExchangeObserver {
  /** A request arrived. */
  opened(): void;
  /** The response has begun, and is an event stream. */
  streamed(): void;
  /** The exchange is over. `status` undefined: the client left before there was one. */
  closed(status: number | undefined, isStream: boolean): void;
  /** A client was refused or cut off to keep room for others. */
  refused(bound: BoundName): void;
}

/** An exchange in a distributed trace. */
export interface ExchangeTrace {
  /** Sent with every call to the core. Undefined: none. */
  readonly headers: { readonly traceparent: string; readonly tracestate?: string } | undefined;
  /** The exchange is over. `route` or `status` undefined: there was none. */
  end(requestId: string, route: string | undefined, status: number | undefined): void;
}

/** Dependencies of a surface. */
export interface Runtime {
  readonly clock: Clock;
  readonly random: Pick<Random, "uuid">;
  readonly logger: {
    // Neither ever gets a prompt, an answer or a key.
    error(fields: object, message: string): void;
    info(fields: object, message: string): void;
  };
  readonly observer: ExchangeObserver;
  /** Undefined: no proxy stands in front. */
  readonly isTrustedProxy?: IsTrustedProxy | undefined;
  /** Traces an exchange from its arrival. Undefined: nothing is traced. */
  readonly trace?: (request: IncomingMessage) => ExchangeTrace;
}
