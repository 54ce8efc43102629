/** A service under attack, and what an attacker without a paid key has. */
export interface Target {
  /** host:port of each listener. */
  readonly addresses: Readonly<Record<"http" | "console" | "connect" | "webhooks", string>>;
  /** A key of an account with little money, whose rate is one request a minute. */
  readonly freeKey: string;
}

/** A bound that counts what an attack meets, as labels of tollgate_door_refused_total. Undefined: nothing is refused. */
export interface Shown {
  readonly listener: string;
  readonly bound: string;
}

/** A way to cost others more than oneself. */
export interface Attack {
  readonly name: string;
  /** What the attacker does, for the table. */
  readonly what: string;
  readonly shown: Shown | undefined;
  /** One burst, from addresses of the attacker's own. Ends when its last answer is there, or its connections are cut. */
  burst(target: Target): Promise<void>;
}
