import type { RequestListener } from "node:http";
import type { Interceptor } from "@connectrpc/connect";
import type { Gate } from "../../grpc/server/gate.ts";
import type { ServiceRegistration } from "../../grpc/server/registration.ts";
import type { Reload } from "./reload.ts";

/** A part of the core that runs. */
export interface Part {
  readonly services: readonly ServiceRegistration[];
  stop(): Promise<void>;
}

/** Outermost first. */
export interface CoreInterceptors {
  /** Those of every call. */
  readonly interceptors: readonly Interceptor[];
  /** Those of the calls that the process itself makes at its start: neither logged nor measured. */
  readonly ownInterceptors: readonly Interceptor[];
}

/** The core's services behind their interceptors, ready to be mounted on any transport. */
export interface Core extends CoreInterceptors {
  readonly services: readonly ServiceRegistration[];
  /** Judges calls before their messages are read. */
  readonly gate: Gate;
  /** By path; served over plain HTTP by a listener of their own. */
  readonly webhooks: ReadonlyMap<string, RequestListener>;
  readonly reload: Reload;
  readonly drains: Drains;
}

/** Keeps the drained servers of several processes the same. */
export interface Drains {
  /** Announces the servers that the operator drains and resumes here. */
  share(tell: (server: string, draining: boolean) => void): void;
  /** Repeats a drain or resume from another process; a server that is not served here is left alone. */
  take(server: string, draining: boolean): void;
}
