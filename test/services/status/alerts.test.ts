import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { type Kind, kinds } from "#src/services/status/trouble.ts";

/** The alert rule for each thing that is red, so that nobody has to look. */
const alerts: Readonly<Record<Kind, string>> = {
  no_server: "TollgateModelDown",
  database: "TollgateLedgerRefuses",
  server_down: "TollgateServerUnhealthy",
  server_cut_off: "TollgateBreakerOpen",
  books_failed: "TollgateBooksDoNotAddUp",
  books_old: "TollgateBooksNotProved",
  dead_letters: "TollgateDeadLetters",
  webhooks_not_taken: "TollgateEventsNotDelivered",
  usage_events_not_taken: "TollgateUsageEventsNotTaken",
  mails_not_sent: "TollgateMailNotSent",
  disk_full: "TollgateDiskNearlyFull",
  certificate_ends: "TollgateCertificateEnds",
  clocks_apart: "TollgateClocksDisagree",
};

test.each(kinds)("%s has an alert rule", (kind) => {
  const file = readFileSync(new URL("../../../deploy/prometheus/alerts.yaml", import.meta.url), "utf8");
  const { groups } = parse(file) as { groups: { rules: { alert: string }[] }[] };
  expect(groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))).toContain(alerts[kind]);
});
