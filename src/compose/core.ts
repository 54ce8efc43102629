import type { Logger } from "#lib/logger.ts";
import type { Setting } from "#src/config/effective.ts";
import type { Config } from "#src/config/schema.ts";
import type { Secrets } from "#src/config/secrets/secrets.ts";
import { takeTurns } from "#src/wire/interceptors/limits/take-turns.ts";
import { composeAccess } from "./core/access.ts";
import { composeAvailability } from "./core/availability.ts";
import { composeEvents } from "./core/events.ts";
import { composeFleet } from "./core/fleet.ts";
import { openFoundation } from "./core/foundation.ts";
import { createInterceptors } from "./core/interceptors.ts";
import type { Core, Reading } from "./core/interface.ts";
import { composeMail } from "./core/mail.ts";
import { startRetention } from "./core/money/books/retention.ts";
import { composeMoney } from "./core/money/money.ts";
import { composePayments } from "./core/money/payments.ts";
import { composeOverview } from "./core/overview.ts";
import { createReload } from "./core/reload.ts";
import { recordRequests } from "./core/requests.ts";
import { composeServing } from "./core/serving.ts";
import { watchDatabaseFile } from "./process/database-file.ts";
import type { Lifecycle } from "./process/lifecycle.ts";
import type { LoadControl } from "./process/overload.ts";
import type { Telemetry } from "./process/tracing.ts";

/**
 * Assembles the core, each part from those before it. Parts that have to be stopped are registered with the lifecycle.
 * `settings`: the configuration as it is shown to operators. `paymentsLookMs`: see `composePayments`.
 */
export async function composeCore(
  config: Config,
  secrets: Secrets,
  lifecycle: Lifecycle,
  logger: Logger,
  telemetry: Telemetry,
  { overload, intake }: LoadControl,
  settings: readonly Setting[] = [],
  paymentsLookMs?: number,
): Promise<Core> {
  const running = <Part extends { stop(): Promise<void> }>(name: string, part: Part): Part => {
    lifecycle.onStop(name, () => part.stop());
    return part;
  };
  const foundation = running("storage", await openFoundation(config, secrets, logger, telemetry));
  lifecycle.onStop("the watch over the database's file", watchDatabaseFile(foundation, lifecycle, telemetry.registry));
  const availability = running("the counts of requests", composeAvailability(foundation));
  const mail = running("mail", await composeMail(foundation));
  const money = running("the ledger", await composeMoney(foundation));
  const { observe } = running("the record of requests", recordRequests(foundation, money.store));
  const { fleet, ...fleetPart } = running("the fleet", await composeFleet(foundation, money));
  const access = running(
    "access",
    await composeAccess(foundation, money, mail, (...given) => payments.giveBack(...given)),
  );
  const events = running("events", composeEvents(foundation, money, mail));
  lifecycle.onStop("the retention of receipts", startRetention(foundation, money, access.trail));
  const serving = running("serving", composeServing(foundation, money, fleet, overload, availability));
  const reading: Reading = { again: undefined };
  const { registry } = telemetry;
  const overview = running(
    "the overview",
    composeOverview(foundation, money, fleet, registry, availability, { settings, reading }),
  );
  const payments = running("payments", await composePayments(foundation, money, paymentsLookMs));
  const parts = [serving, access, payments, events, money, fleetPart, overview];
  const services = parts.flatMap((part) => part.services);
  const intercepted = createInterceptors(foundation, access, overload, money, services, [
    availability.observe,
    observe,
  ]);
  payments.start({ services, ...intercepted });
  const reload = createReload({ ...foundation, ...money, fleet });
  return {
    services,
    ...intercepted,
    gate: takeTurns(access.gate, intake),
    webhooks: payments.webhooks,
    reload,
    reading,
  };
}
