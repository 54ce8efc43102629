import type { Interceptor } from "@connectrpc/connect";
import type { PaymentWebhook } from "#src/checkout/webhook.ts";
import type { ReadAgain } from "#src/services/operators/settings-service.ts";
import type { Gate } from "#src/wire/grpc/server/gate.ts";
import type { ServiceRegistration } from "#src/wire/grpc/server/registration.ts";
import type { Reload } from "./reload.ts";

/** A running part of the core. */
export interface Part {
  readonly services: readonly ServiceRegistration[];
  stop(): Promise<void>;
}

/** How the configuration file is read again. */
export interface Reading {
  /** Undefined: there is no file. */
  again: ReadAgain;
}

/** Interceptors, outermost first. */
export interface CoreInterceptors {
  /** For every call. */
  readonly interceptors: readonly Interceptor[];
  /** For the calls that the process itself makes at its start: neither logged nor measured. */
  readonly ownInterceptors: readonly Interceptor[];
}

/** The core's services behind their interceptors, ready to be mounted on any transport. */
export interface Core extends CoreInterceptors {
  readonly services: readonly ServiceRegistration[];
  /** Checks calls before their messages are read. */
  readonly gate: Gate;
  /** Webhooks by path, served over plain HTTP by their own listener. */
  readonly webhooks: ReadonlyMap<string, PaymentWebhook>;
  readonly reload: Reload;
  /** How operators have the configuration file read again: set once there is one. */
  readonly reading: Reading;
}
