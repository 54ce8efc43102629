/** The listeners of a process, by their names in metrics and in the log. */
export const listenerNames = ["public", "console", "connect", "grpc", "payments", "admin", "docs"] as const;
export type ListenerName = (typeof listenerNames)[number];

/** What listeners bound, by its name in metrics, in the log and in docs/operations.md. */
export const boundNames = [
  ...(["connections", "connections_per_address", "connection_rate", "idle", "silent", "head", "pipeline"] as const),
  ...([
    "requests_per_address",
    "calls",
    "rate",
    "credentials",
    "refusals",
    "uncounted",
    "bodies",
    "slow_body",
  ] as const),
  ...(["unwanted", "slow_reader", "overload"] as const),
] as const;
export type BoundName = (typeof boundNames)[number];
