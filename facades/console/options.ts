import type { IncomingMessage, RequestListener } from "node:http";
import type { Transport } from "@connectrpc/connect";
import type { StaticFiles } from "../http/home/static-files.ts";
import type { IsTrustedProxy } from "../http/request/client-address.ts";

/** How browsers reach the console: over TLS, from this machine alone, or over plain HTTP from elsewhere. */
export type Reach = "tls" | "loopback" | "insecure";

/** Dependencies. */
export interface ConsoleOptions {
  /** The way to the core: in process, or over gRPC. */
  readonly transport: Transport;
  /** Serves the forwarded calls, once their cookie has become a credential. */
  readonly calls: RequestListener;
  /** The public surfaces, for the playground. */
  readonly surfaces: RequestListener;
  /** The built browser code. Empty: it was not built. */
  readonly files: StaticFiles;
  readonly reach: Reach;
  readonly logger: { error(fields: object, message: string): void };
  readonly facts: ConsoleFacts;
  /** Undefined: there are no proxies before this. */
  readonly isTrustedProxy?: IsTrustedProxy | undefined;
}

/** What the browser code is told of the service. */
export interface ConsoleFacts {
  /** Where the public surfaces are, for examples. */
  readonly publicUrl: string;
  /** The account that the embedded service made. Empty: none. */
  readonly demoAccountId: string;
  readonly version: string;
}

/** How a browser reached the console with this request: a proxy of our own may speak TLS for it. */
export function readReach(request: IncomingMessage, { reach, isTrustedProxy }: ConsoleOptions): Reach {
  const isForwarded = isTrustedProxy?.(request.socket.remoteAddress ?? "") ?? false;
  return isForwarded && request.headers["x-forwarded-proto"] === "https" ? "tls" : reach;
}
