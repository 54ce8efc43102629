import type { Registry } from "prom-client";
import type { Clock } from "#lib/time/clock.ts";
import type { WebhookObserver } from "#src/checkout/webhook.ts";
import type { MailObserver } from "#src/delivery/mail/mail-sender.ts";
import type { UsageEventsObserver } from "#src/delivery/usage/usage-sender.ts";
import type { DeliveryObserver } from "#src/delivery/webhooks/dispatcher.ts";
import type { Fleet, FleetObserver } from "#src/fleet/interface.ts";
import type { LabelObserver } from "#src/money/labels/labels.ts";
import type { LedgerState } from "#src/money/model/ledger.ts";
import type { MeteringObserver } from "#src/money/model/observer.ts";
import type { Prices } from "#src/money/model/rates.ts";
import type { RetentionObserver } from "#src/money/retention/retention.ts";
import type { EmbeddingsObserver } from "#src/services/embeddings/interface.ts";
import type { InferenceObserver } from "#src/services/inference/interface.ts";
import type { Outcome } from "#src/services/status/availability/outcome.ts";
import type { StandbyObserver } from "#src/storage/postgresql/standby.ts";
import type { CallObserver } from "#src/wire/interceptors/observation/observe.ts";
import type { DropReason } from "../requests/recorder.ts";
import { requestMetrics } from "../requests/request-metrics.ts";
import { auditMetrics } from "./audit-metrics.ts";
import { callMetrics } from "./call-metrics.ts";
import { deliveryMetrics } from "./events/delivery-metrics.ts";
import { mailMetrics } from "./events/mail-metrics.ts";
import { usageEventMetrics } from "./events/usage-event-metrics.ts";
import { fleetMetrics, watchFleet } from "./fleet-metrics.ts";
import { inferenceMetrics } from "./inference-metrics.ts";
import { type BudgetObserver, budgetMetrics } from "./money/budget-metrics.ts";
import { labelMetrics } from "./money/label-metrics.ts";
import { meteringMetrics, watchClock, watchLedger, watchRateLimits } from "./money/metering-metrics.ts";
import { watchPrices } from "./money/price-metrics.ts";
import { retentionMetrics } from "./money/retention-metrics.ts";
import { standbyMetrics } from "./money/standby-metrics.ts";
import { providerMetrics } from "./provider-metrics.ts";
import { webhookMetrics } from "./webhook-metrics.ts";

/** Events of a core that its metrics count. */
export interface CoreMetrics {
  readonly calls: CallObserver;
  readonly inference: InferenceObserver & EmbeddingsObserver;
  readonly metering: MeteringObserver;
  readonly fleet: FleetObserver;
  readonly webhook: WebhookObserver;
  readonly deliveries: DeliveryObserver;
  readonly usageEvents: UsageEventsObserver;
  readonly mails: MailObserver;
  /** Counts a request for output that is over. */
  readonly provider: (outcome: Outcome) => void;
  /** A change was made but could not be noted in the audit log. */
  readonly audit: () => void;
  readonly retention: RetentionObserver;
  readonly standby: StandbyObserver;
  readonly budgets: BudgetObserver;
  readonly labels: LabelObserver;
  /** Refused requests are not in the record. */
  readonly unrecorded: (reason: DropReason, count: number) => void;
  /** Reads gauges at the time of the scrape. */
  watch(parts: {
    readonly clock: { readonly apart: number };
    readonly ledger: { state(): LedgerState };
    readonly windows: { readonly areShared: boolean };
    readonly prices: Prices;
    readonly fleet: Fleet;
  }): void;
}

/** The metrics of a core that serves these models. `models` returns their ids, which a reload may change. */
export function coreMetrics(registry: Registry, clock: Clock, models: () => readonly string[]): CoreMetrics {
  let servers: Fleet["servers"] = () => [];
  return {
    calls: callMetrics(registry),
    inference: inferenceMetrics(registry, clock, models),
    metering: meteringMetrics(registry, clock, models),
    fleet: fleetMetrics(registry, clock, () => servers()),
    webhook: webhookMetrics(registry),
    audit: auditMetrics(registry),
    budgets: budgetMetrics(registry),
    labels: labelMetrics(registry),
    unrecorded: requestMetrics(registry),
    retention: retentionMetrics(registry),
    standby: standbyMetrics(registry),
    deliveries: deliveryMetrics(registry),
    usageEvents: usageEventMetrics(registry),
    mails: mailMetrics(registry),
    provider: providerMetrics(registry),
    watch({ clock, ledger, windows, prices, fleet }) {
      watchClock(registry, clock);
      watchLedger(registry, () => ledger.state());
      watchRateLimits(registry, windows);
      watchPrices(registry, prices, models);
      watchFleet(registry, fleet, models);
      servers = () => fleet.servers();
    },
  };
}
