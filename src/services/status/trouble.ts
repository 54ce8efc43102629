/** The kinds of trouble, those that clients notice first. */
export const kinds = [
  "no_server",
  "database",
  "server_down",
  "server_cut_off",
  "books_failed",
  "books_old",
  "dead_letters",
  "webhooks_not_taken",
  "usage_events_not_taken",
  "mails_not_sent",
  "disk_full",
  "certificate_ends",
  "clocks_apart",
] as const;
export type Kind = (typeof kinds)[number];

/** One thing that somebody has to mend. */
export interface Trouble {
  readonly what: Kind;
  /** The model that it concerns. Absent: none. */
  readonly model?: string;
  /** The id of the server that it concerns. Absent: none. */
  readonly server?: string;
  /** Why, for people. */
  readonly reason: string;
  /** Since when, in milliseconds since the epoch. Absent: since it was first seen. */
  readonly since?: number;
}
