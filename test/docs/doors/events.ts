import { type Doors, operatorsAlone } from "./door.ts";

/** What goes out. */
export const eventsDoors: Readonly<Record<string, Doors>> = {
  webhooks: {
    contract: [
      ...["WebhooksService.CreateWebhook url", "WebhooksService.CreateWebhook events", "WebhooksService.ListWebhooks"],
      ...["WebhooksService.RotateWebhookSecret overlap", "WebhooksService.DeleteWebhook"],
      ...["WebhooksService.ListDeliveries > deliveries.attempts", "WebhooksService.PauseWebhook"],
      ...["WebhooksService.ResumeWebhook", "WebhooksService.SendTestEvent", "WebhooksService.Redeliver"],
    ],
    cli: [
      ...["webhooks create --url", "webhooks create --events", "webhooks create > secret", "webhooks list > events"],
      ...["webhooks rotate-secret --overlap", "webhooks delete", "webhooks deliveries > response_status"],
    ],
    openapi: operatorsAlone,
    metrics: ["tollgate_event_deliveries_total", "tollgate_event_backlog", "tollgate_event_backlog_age_seconds"],
    dashboard: ["Events out"],
    config: ["webhooks.allow"],
    docs: ["operations.md: Webhooks"],
    console: ["settings"],
  },
  events: {
    contract: ["EventsService.ListEvents types", "EventsService.ListEventTypes > event_types.description"],
    cli: ["events list --type", "events list > data", "events types > description"],
    openapi: operatorsAlone,
    metrics: "- deliveries are counted; the rarest of them, budgets, by tollgate_budget_crossings_total",
    dashboard: ["Budgets of keys"],
    docs: ["operations.md: Webhooks"],
    console: ["books", "settings"],
  },
  mail: {
    contract: [
      ...["AccountsService.CreateAccount email", "AccountsService.UpdateAccount email"],
      "AccountsService.GetAccount > account.email",
    ],
    cli: ["accounts create --email", "accounts update --email", "accounts show > email"],
    openapi: operatorsAlone,
    metrics: ["tollgate_mails_total", "tollgate_mail_backlog", "tollgate_mail_backlog_age_seconds"],
    dashboard: ["Events out"],
    config: ["mail.from", "mail.smtp", "mail.templates", "mail.an_hour.address"],
    docs: ["operations.md: Mail"],
    console: ["account"],
  },
  "usage events": {
    contract: "- they go out as the configuration says; nothing asks for them",
    cli: "- as above",
    openapi: operatorsAlone,
    metrics: [
      ...["tollgate_usage_events_total", "tollgate_usage_event_failures_total", "tollgate_usage_event_backlog"],
      "tollgate_usage_event_backlog_age_seconds",
    ],
    dashboard: ["Usage events"],
    config: ["usage_events.url", "usage_events.keep_days"],
    docs: ["operations.md: Usage events"],
    console: ["settings"],
  },
};
