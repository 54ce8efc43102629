import { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { WebhooksService } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { createSeal } from "#lib/ids/sealed.ts";
import { systemLookup } from "#lib/net/lookup.ts";
import { UsageOutbox } from "#src/delivery/usage/usage-outbox.ts";
import { UsageSender } from "#src/delivery/usage/usage-sender.ts";
import { loopbackNetworks } from "#src/delivery/webhooks/destination.ts";
import { Dispatcher } from "#src/delivery/webhooks/dispatcher.ts";
import { Outbox } from "#src/delivery/webhooks/outbox.ts";
import { createSend } from "#src/delivery/webhooks/send.ts";
import { Webhooks } from "#src/delivery/webhooks/webhooks.ts";
import { ExpiringKeys } from "#src/identity/accounts/keys/expiring-keys.ts";
import { toBudget } from "#src/identity/accounts/keys/key-budget.ts";
import { BudgetCensus } from "#src/money/thresholds/budget-census.ts";
import { BudgetEvents } from "#src/money/thresholds/budget-events.ts";
import { BudgetRecounts } from "#src/money/thresholds/budget-recounts.ts";
import { SpendingWatch } from "#src/money/thresholds/spending-watch.ts";
import { findSpentWindows } from "#src/money/thresholds/spent-windows.ts";
import { createEventsService, createWebhooksService } from "#src/services/events-service.ts";
import { WorkLease } from "#src/storage/work-lease.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import type { Foundation } from "./foundation.ts";
import type { Part } from "./interface.ts";
import type { MailPart } from "./mail.ts";
import type { Money } from "./money/money.ts";

/** Events, and the endpoints that get them. */
export function composeEvents(foundation: Foundation, money: Money, { alongside }: Pick<MailPart, "alongside">): Part {
  const { config, secrets, storage, clock, random } = foundation;
  const { allow } = config.webhooks;
  const webhooks = new Webhooks({ storage, clock, random, seal: createSeal(secrets.peppers, random) });
  return {
    services: [
      registration(EventsService, createEventsService(webhooks)),
      registration(WebhooksService, createWebhooksService(webhooks, allow)),
    ],
    stop: startDelivery(foundation, money, alongside),
  };
}

/** Delivers events, and watches for those that spending and time cause. Returns the function that ends it. */
function startDelivery(
  foundation: Foundation,
  { store, prices, balances, ledger }: Money,
  alongside: MailPart["alongside"],
): () => Promise<void> {
  const { config, secrets, storage, clock, random, logger, metrics, announce } = foundation;
  const { allow } = config.webhooks;
  const seal = createSeal(secrets.peppers, random);
  const dispatcher = new Dispatcher({
    outbox: new Outbox({ storage, clock, random, ...(alongside && { alongside }) }),
    lease: new WorkLease({ storage, clock, random, name: "webhooks" }),
    send: createSend({ allow, lookup: systemLookup, clock }),
    observer: metrics.deliveries,
    seal,
    clock,
    logger,
  });
  dispatcher.start();
  const spending = new WorkLease({ storage, clock, random, name: "spending" });
  const watch = new SpendingWatch({
    storage,
    store,
    balances,
    clock,
    logger,
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
  const lease = new WorkLease({ storage, clock, random, name: "expiring keys" });
  const stopKeys = new ExpiringKeys({ storage, announce, lease, clock, logger }).start();
  const stopUsage = startUsageEvents(foundation);
  return async () => {
    stopCount();
    await stopWatch();
    await stopKeys();
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
    url,
    source,
    keepDays,
    token: secrets.usageEventsToken,
    clock,
    logger,
    outbox: new UsageOutbox({ storage, clock }),
    lease: new WorkLease({ storage, clock, random, name: "usage events" }),
    // The configuration itself names this address.
    send: createSend({ allow: [...config.webhooks.allow, ...loopbackNetworks], lookup: systemLookup, clock }),
    observer: metrics.usageEvents,
  });
  return sender.start();
}
