import type { Registry } from "prom-client";
import { OverviewService } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import { SettingsService } from "#gen/tollgate/settings/v1/settings_service_pb.js";
import type { Setting } from "../../config/effective.ts";
import type { Fleet } from "../../fleet/interface.ts";
import { registration } from "../../grpc/server/registration.ts";
import { createOverviewService } from "../../overview/overview-service.ts";
import { Sampler } from "../../overview/sampler.ts";
import { createSettingsService } from "../../settings/settings-service.ts";
import { Core } from "../../storage/entities/metering/slice.ts";
import { readTotals } from "../../telemetry/read-totals.ts";
import { readPicoUsd } from "./amount.ts";
import type { Foundation } from "./foundation.ts";
import type { Part } from "./interface.ts";
import type { Money } from "./money.ts";

/** A core whose last heartbeat is older than this is not counted, in milliseconds. */
const silentMs = 30_000;

/** What a page sees of the core as a whole: its live figures and its configuration. */
export function composeOverview(
  { catalogue, clock, logger, storage }: Foundation,
  { lastProof }: Pick<Money, "lastProof">,
  fleet: Fleet,
  registry: Registry,
  settings: readonly Setting[],
): Part {
  const models = () => catalogue.list();
  const sampler = new Sampler({
    ...{ clock, logger, lastProof },
    count: () => readTotals(registry),
    servers: () => fleet.servers(),
    queued: () => models().reduce((sum, { id }) => sum + fleet.waiting(id), 0),
    serversCost() {
      // A server that serves several models costs once.
      const costs = new Map(
        models().flatMap(({ servers }) => servers.map(({ url, usd_per_hour }) => [url, usd_per_hour])),
      );
      const known = [...costs.values()].filter((cost) => cost !== undefined);
      return known.length === 0 ? undefined : known.reduce((sum, cost) => sum + BigInt(readPicoUsd(cost)), 0n);
    },
    countCores: () =>
      storage.orm.em.fork().count(Core, { heartbeatAt: { $gt: new Date(clock.now() - silentMs) }, deadBeat: null }),
  });
  const stop = sampler.start();
  return {
    services: [
      registration(OverviewService, createOverviewService(sampler)),
      registration(SettingsService, createSettingsService(settings)),
    ],
    stop: async () => stop(),
  };
}
