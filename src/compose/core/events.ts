import { EventsService } from "#gen/tollgate/events/v1/events_service_pb.js";
import { WebhooksService } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { systemLookup } from "../../../lib/net/lookup.ts";
import { toBudget } from "../../accounts/keys/key-budget.ts";
import { copyWebhooks } from "../../events/copy-webhooks.ts";
import { Dispatcher } from "../../events/delivery/dispatcher.ts";
import { Outbox } from "../../events/delivery/outbox.ts";
import { createSend } from "../../events/delivery/send.ts";
import { createEventsService, createWebhooksService } from "../../events/events-service.ts";
import { createSeal } from "../../events/sealed.ts";
import { Webhooks } from "../../events/webhooks.ts";
import { WorkLease } from "../../events/work-lease.ts";
import { registration } from "../../grpc/server/registration.ts";
import { BudgetCensus, type BudgetCounts } from "../../metering/thresholds/budget-census.ts";
import { BudgetEvents } from "../../metering/thresholds/budget-events.ts";
import { BudgetRecounts } from "../../metering/thresholds/budget-recounts.ts";
import { SpendingWatch } from "../../metering/thresholds/spending-watch.ts";
import { findSpentWindows } from "../../metering/thresholds/spent-windows.ts";
import type { Storage } from "../../storage/orm.ts";
import { UsageOutbox } from "../../usage-events/usage-outbox.ts";
import { UsageSender } from "../../usage-events/usage-sender.ts";
import type { Shard } from "../shards/open-shards.ts";
import { mergeEvents } from "../shards/records.ts";
import type { Foundation } from "./foundation.ts";
import type { Part } from "./interface.ts";
import type { Money } from "./money.ts";

/** Events, and the endpoints that get them. */
export function composeEvents({ config, secrets, storage }: Foundation, { shards }: Pick<Money, "shards">): Part {
  const { allow } = config.webhooks;
  const all = shards.map(({ foundation: { storage, clock, random } }) => {
    return new Webhooks({ storage, clock, random, seal: createSeal(secrets.peppers, random) });
  });
  shards.each((shard, number) => startDelivery(shard, number === 0 ? undefined : storage));
  const webhooks = shards.areSeveral ? mergeEvents(all) : all.first;
  return {
    services: [
      registration(EventsService, createEventsService(webhooks)),
      registration(WebhooksService, createWebhooksService(webhooks, allow)),
    ],
    stop: async () => {},
  };
}

/**
 * Delivers the events of one database, and watches for those that spending causes. `endpoints`: the database that has
 * the endpoints. Undefined: this one. Returns the function that ends it.
 */
function startDelivery({ foundation, books }: Shard, endpoints: Storage | undefined): () => Promise<void> {
  const { config, secrets, storage, clock, random, logger, metrics, announce } = foundation;
  const { store, prices, balances, ledger } = books;
  const { allow } = config.webhooks;
  const seal = createSeal(secrets.peppers, random);
  const copyEndpoints = async () => {
    await (endpoints && copyWebhooks(endpoints, storage));
    return true;
  };
  const dispatcher = new Dispatcher({
    outbox: new Outbox({ storage, clock, random, copyEndpoints: () => copyEndpoints().catch(() => false) }),
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
  const counted = (counts: BudgetCounts | undefined) => metrics.budgets.counted(storage, counts);
  const stopCount = new BudgetCensus({ storage, lease: spending, clock, logger, counted }).start();
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
