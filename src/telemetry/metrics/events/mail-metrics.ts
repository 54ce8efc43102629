import { Counter, Gauge, type Registry } from "prom-client";
import { isMailKind, mailKinds } from "#src/delivery/mail/kinds.ts";
import type { MailObserver } from "#src/delivery/mail/mail-sender.ts";

/** Counts mails by kind and outcome. */
export function mailMetrics(registry: Registry): MailObserver {
  const mails = new Counter({
    name: "tollgate_mails_total",
    help: "Mails by kind and outcome: sent, retried later, failed for good, or bounded: not written, as too many were.",
    labelNames: ["kind", "outcome"],
    registers: [registry],
  });
  // Begins at 0, because a counter that first appears as 1 shows no increase to an alarm.
  for (const kind of Object.keys(mailKinds).filter(isMailKind)) {
    for (const outcome of ["sent", "retried", "failed", "bounded"]) {
      mails.inc({ kind, outcome }, 0);
    }
  }
  const waiting = new Gauge({
    name: "tollgate_mail_backlog",
    help: "Mails that wait, as the core knows that sends them.",
    registers: [registry],
  });
  const age = new Gauge({
    name: "tollgate_mail_backlog_age_seconds",
    help: "Age of the oldest mail that waits.",
    registers: [registry],
  });
  return {
    counted: (kind, outcome) => mails.inc({ kind, outcome }),
    backlog(count, oldestMs) {
      waiting.set(count);
      age.set(oldestMs / 1000);
    },
  };
}
