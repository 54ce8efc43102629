interface Kind {
  readonly title: string;
  /** The page that mends it. */
  readonly page: string;
}

/** What is wrong, by its kind: all kinds that the core knows. */
export const troubleKinds: Readonly<Record<string, Kind>> = {
  no_server: { title: "No server is up", page: "/fleet" },
  server_down: { title: "A server is down", page: "/fleet" },
  server_cut_off: { title: "A server is cut off", page: "/fleet" },
  books_failed: { title: "The books do not hold", page: "/books" },
  books_old: { title: "The books were not proved", page: "/books" },
  dead_letters: { title: "Charges wait", page: "/books" },
  webhooks_not_taken: { title: "Webhooks are not taken", page: "/settings" },
  usage_events_not_taken: { title: "Usage events are not taken", page: "/settings" },
  database: { title: "The database is in trouble", page: "/settings" },
  mails_not_sent: { title: "Mails are not sent", page: "/settings" },
  disk_full: { title: "A disk is nearly full", page: "/settings" },
  certificate_ends: { title: "The certificate is about to end", page: "/settings" },
  clocks_apart: { title: "The clocks disagree", page: "/settings" },
};
