import type { Registry } from "prom-client";
import { FindService } from "#gen/tollgate/find/v1/find_service_pb.js";
import { MarginService } from "#gen/tollgate/metering/v1/margin_service_pb.js";
import { OverviewService } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import { SettingsService } from "#gen/tollgate/settings/v1/settings_service_pb.js";
import { StatusService } from "#gen/tollgate/status/v1/status_service_pb.js";
import { toHourlyCost } from "#lib/money/server-costs.ts";
import type { Setting } from "#src/config/effective.ts";
import type { Fleet } from "#src/fleet/interface.ts";
import { readBeginning } from "#src/money/prices/beginning.ts";
import { createFindService } from "#src/services/find/find-service.ts";
import { createMarginService } from "#src/services/metering/margin-service.ts";
import { createSettingsService } from "#src/services/operators/settings-service.ts";
import { readSteps } from "#src/services/overview/history/history.ts";
import { Steps } from "#src/services/overview/history/steps.ts";
import { createOverviewService } from "#src/services/overview/overview-service.ts";
import { Sampler } from "#src/services/overview/sampler.ts";
import { findMachineTroubles } from "#src/services/status/machine-troubles.ts";
import { Status } from "#src/services/status/status.ts";
import { statusMetrics } from "#src/services/status/status-metrics.ts";
import { createStatusService } from "#src/services/status/status-service.ts";
import { findStoredTroubles } from "#src/services/status/stored-troubles.ts";
import { Core } from "#src/storage/entities/metering/slice.ts";
import { readTotals } from "#src/telemetry/metrics/read-totals.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import type { Availability } from "./availability.ts";
import type { Foundation } from "./foundation.ts";
import type { Part, Reading } from "./interface.ts";
import type { Money } from "./money/money.ts";

/** A core whose last heartbeat is older than this is not counted, in milliseconds. */
const silentMs = 30_000;

/** The operator's view of the core as a whole: its live figures and its configuration. */
export function composeOverview(
  { catalogue, clock, config, logger, storage, secrets: { dataDir } }: Foundation,
  { lastProof, ledger, archives }: Pick<Money, "lastProof" | "ledger" | "archives">,
  fleet: Fleet,
  registry: Registry,
  { readHistory }: Pick<Availability, "readHistory">,
  { settings, reading }: { readonly settings: readonly Setting[]; readonly reading: Reading },
): Part {
  const models = () => catalogue.list();
  const queued = () => models().reduce((sum, { id }) => sum + fleet.waiting(id), 0);
  const serversCost = () => toHourlyCost(fleet.servers());
  const sampler = new Sampler({
    clock,
    logger,
    lastProof,
    count: () => readTotals(registry),
    servers: () => fleet.servers(),
    queued,
    serversCost,
    countCores: () =>
      storage.orm.em.fork().count(Core, { heartbeatAt: { $gt: new Date(clock.now() - silentMs) }, deadBeat: null }),
  });
  const status = new Status({
    models,
    clock,
    logger,
    lastProof,
    servers: () => fleet.servers(),
    admits: () => ledger.state().admits,
    findStored: (now) => findStoredTroubles(storage, now),
    findOnMachine: (now) => findMachineTroubles({ dataDir, certificate: config.listen.tls?.cert }, now),
  });
  statusMetrics(registry, status);
  const steps = new Steps({
    storage,
    clock,
    logger,
    count: () => readTotals(registry),
    load: () => ({
      inFlight: fleet.servers().reduce((sum, { inFlight }) => sum + inFlight, 0),
      queued: queued(),
    }),
  });
  const stops = [sampler.start(), status.start(), steps.start()];
  const margins = { storage, clock, servers: () => fleet.servers(), readBeginning: () => readBeginning(storage) };
  return {
    services: [
      registration(FindService, createFindService({ storage, archives, models, servers: () => fleet.servers() })),
      registration(MarginService, createMarginService(margins)),
      registration(
        OverviewService,
        createOverviewService(sampler, (spanS) => readSteps(storage, spanS, clock.now(), serversCost())),
      ),
      registration(
        SettingsService,
        createSettingsService(settings, () => reading.again),
      ),
      registration(StatusService, createStatusService(status, readHistory)),
    ],
    async stop() {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}
