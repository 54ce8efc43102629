interface Kind {
  readonly title: string;
  /** The page where it is seen and mended. Absent: none is, as for what is wrong with the machine. */
  readonly page?: string;
  /** What to do where no page can mend it. */
  readonly advice?: string;
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
  usage_events_not_taken: {
    title: "Usage events are not taken",
    advice: "Mend the endpoint that usage_events in the configuration names; what waits is sent by itself.",
  },
  database: {
    title: "The database is in trouble",
    advice: "See whether it runs and is reached, and its disk. The core goes on by itself.",
  },
  mails_not_sent: {
    title: "Mails are not sent",
    advice:
      "Mend the mail server, or mail in the configuration; the log says what it answered. What waits is sent by itself.",
  },
  disk_full: {
    title: "A disk is nearly full",
    advice: "Make room, or move TOLLGATE_DATA_DIR to another disk while the core is down.",
  },
  certificate_ends: {
    title: "The certificate is about to end",
    advice: "Renew the file; a renewed one is read within a minute.",
  },
  clocks_apart: {
    title: "The clocks disagree",
    advice: "Mend the time synchronisation of the core's and the database's machine; this ends by itself.",
  },
};
