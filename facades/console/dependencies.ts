import type { IncomingMessage, RequestListener } from "node:http";
import type { Transport } from "@connectrpc/connect";
import type { IsTrustedProxy } from "../http/request/client-address.ts";
import type { SiteFacts } from "../http/site/facts.ts";
import type { StaticFiles } from "../http/site/static-files.ts";

/** How browsers reach the console: over TLS, from this machine only, or over plain HTTP from elsewhere. */
export type Reach = "tls" | "loopback" | "insecure";

export interface Dependencies {
  /** The transport to the core: in process, or over gRPC. */
  readonly transport: Transport;
  /** Serves forwarded calls, after their cookie was replaced by a credential. */
  readonly calls: RequestListener;
  /** The public surfaces, for the playground. */
  readonly surfaces: RequestListener;
  /** The built browser code. Empty: it was not built. */
  readonly files: StaticFiles;
  readonly reach: Reach;
  readonly logger: { error(fields: object, message: string): void };
  readonly facts: ConsoleFacts;
  /** The console's own address for browsers. Undefined: the Host that a browser names. */
  readonly consoleUrl?: string | undefined;
  /** What the public page tells of whoever runs the service. */
  readonly site: SiteFacts;
  /** Undefined: no proxy stands in front of the console. */
  readonly isTrustedProxy?: IsTrustedProxy | undefined;
}

/** What the browser code learns about the service. */
export interface ConsoleFacts {
  /** The URL of the public surfaces, for examples. */
  readonly publicUrl: string;
  /** The account that the embedded service created. Empty: none. */
  readonly demoAccountId: string;
  readonly version: string;
}

/** How a browser reached the console with this request. One of our own proxies may terminate TLS for it. */
export function readReach(request: IncomingMessage, { reach, isTrustedProxy }: Dependencies): Reach {
  const isForwarded = isTrustedProxy?.(request.socket.remoteAddress ?? "") ?? false;
  return isForwarded && request.headers["x-forwarded-proto"] === "https" ? "tls" : reach;
}
