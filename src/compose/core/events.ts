import { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { WebhooksService } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { systemLookup } from "../../../lib/net/lookup.ts";
import { toBudget } from "../../accounts/keys/key-budget.ts";
import { Dispatcher } from "../../events/delivery/dispatcher.ts";
import { Outbox } from "../../events/delivery/outbox.ts";
import { createSend } from "../../events/delivery/send.ts";
import { createEventsService, createWebhooksService } from "../../events/events-service.ts";
import { createSeal } from "../../events/sealed.ts";
import { Webhooks } from "../../events/webhooks.ts";
import { WorkLease } from "../../events/work-lease.ts";
import { registration } from "../../grpc/server/registration.ts";
import { BudgetCensus } from "../../metering/thresholds/budget-census.ts";
import { BudgetEvents } from "../../metering/thresholds/budget-events.ts";
import { BudgetRecounts } from "../../metering/thresholds/budget-recounts.ts";
import { SpendingWatch } from "../../metering/thresholds/spending-watch.ts";
import { findSpentWindows } from "../../metering/thresholds/spent-windows.ts";
import { UsageOutbox } from "../../usage-events/usage-outbox.ts";
import { UsageSender } from "../../usage-events/usage-sender.ts";
import type { Foundation } from "./foundation.ts";
import type { Part } from "./interface.ts";
import type { Money } from "./money.ts";

/** Events, and the endpoints that get them. */
export function composeEvents(foundation: Foundation, money: Money): Part {
  const { config, secrets, storage, clock, random } = foundation;
  const { allow } = config.webhooks;
  const webhooks = new Webhooks({ storage, clock, random, seal: createSeal(secrets.peppers, random) });
  return {
    services: [
      registration(EventsService, createEventsService(webhooks)),
      registration(WebhooksService, createWebhooksService(webhooks, allow)),
    ],
    stop: startDelivery(foundation, money),
  };
}

/** Delivers events, and watches for those that spending causes. Returns the function that ends it. */
function startDelivery(foundation: Foundation, { store, prices, balances, ledger }: Money): () => Promise<void> {
  const { config, secrets, storage, clock, random, logger, metrics, announce } = foundation;
  const { allow } = config.webhooks;
  const seal = createSeal(secrets.peppers, random);
  const dispatcher = new Dispatcher({
    outbox: new Outbox({ storage, clock, random }),
    lease: new WorkLease({ storage, clock, random, name: "webhooks" }),
    send: createSend({ allow, lookup: systemLookup, clock }),
    observer: metrics.deliveries,
    ...{ seal, clock, logger },
  });
  dispatcher.start();
  const spending = new WorkLease({ storage, clock, random, name: "spending" });
  const watch = new SpendingWatch({
    ...{ storage, store, balances, clock, logger },
    budgets: new BudgetEvents({ storage, store, prices, announce, crossed: metrics.budgets.crossed }),
    recounts: new BudgetRecounts({ storage, store, callIn: (accountId) => ledger.callIn(accountId) }),
    findWindows: (charged) => findSpentWindows({ storage, toBudget }, charged),
    lease: spending,
  });
  const stopCount = new BudgetCensus({
    storage,
    lease: spending,
    clock,
    logger,
    counted: metrics.budgets.counted,
  }).start();
  const stopWatch = watch.start();
  const stopUsage = startUsageEvents(foundation);
  return async () => {
    stopCount();
    await stopWatch();
    await stopUsage();
    await dispatcher.stop();
  };
}

/** Sends usage events if a receiver is configured. Returns the function that ends it. */
function startUsageEvents({ config, secrets, storage, clock, random, logger, metrics }: Foundation) {
  const { url, source, keep_days: keepDays } = config.usage_events;
  if (url === undefined) {
    return async () => {};
  }
  const sender = new UsageSender({
    ...{ url, source, keepDays, token: secrets.usageEventsToken, clock, logger },
    outbox: new UsageOutbox({ storage, clock }),
    lease: new WorkLease({ storage, clock, random, name: "usage events" }),
    send: createSend({ allow: config.webhooks.allow, lookup: systemLookup, clock }),
    observer: metrics.usageEvents,
  });
  return sender.start();
}
