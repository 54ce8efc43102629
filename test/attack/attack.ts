import type { BoundName, ListenerName } from "#lib/door/bounds.ts";

/** A service under attack, and what an attacker without a paid key has. */
export interface Target {
  /** host:port of each listener. */
  readonly addresses: Readonly<Record<"http" | "console" | "connect" | "grpc" | "webhooks" | "admin", string>>;
  /** A key of an account with little money, whose rate is one request a minute. */
  readonly freeKey: string;
  /** A key that manages the keys of that account. */
  readonly managementKey: string;
}

/** A counter that grows under an attack: a metric, and the labels by which its series are chosen. */
export interface Shown {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The counter of clients that a listener's bound refused. */
export function refusedBy(listener: ListenerName, bound: BoundName): Shown {
  return { metric: "tollgate_door_refused_total", labels: { listener, bound } };
}

/** A way to cost others more than oneself. */
export interface Attack {
  readonly name: string;
  /** What the attacker does, for the table. */
  readonly what: string;
  /** The bounds that stop it, as they show to whoever runs the service. Without one of them, its count stays as it was. */
  readonly shown: readonly Shown[];
  /** One burst, from addresses of the attacker's own. Ends when its last answer is there, or its connections are cut. */
  burst(target: Target): Promise<void>;
}
