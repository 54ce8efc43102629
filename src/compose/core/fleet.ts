import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import type { Logger } from "#lib/logger.ts";
import { systemLookup } from "#lib/net/lookup.ts";
import { trackProgress } from "#lib/text/progress.ts";
import type { Clock } from "#lib/time/clock.ts";
import { keep } from "#lib/time/kept.ts";
import { createServerEvents } from "#src/delivery/webhooks/server-events.ts";
import { createFleet } from "#src/fleet/create-fleet.ts";
import { createEngine } from "#src/fleet/engines/drivers/create-engine.ts";
import type { Fleet } from "#src/fleet/interface.ts";
import { KeptDrains } from "#src/fleet/kept-drains.ts";
import type { FleetChannel } from "#src/fleet/sharing/channel.ts";
import { keepOwnPrices } from "#src/money/prices/kept-own-prices.ts";
import { readOwnPrices } from "#src/money/prices/own-prices.ts";
import { readPriceDays } from "#src/money/prices/price-days.ts";
import { createCatalogueService } from "#src/services/catalogue-service.ts";
import { traceEngine } from "#src/telemetry/traces/engine.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import type { Foundation } from "./foundation.ts";
import type { Part } from "./interface.ts";
import type { Money } from "./money/money.ts";

/** How long prices of past days are told as they were read: everybody may ask. */
const keptMs = 300_000;

/** The inference servers and the service that lists what they serve. */
export interface FleetPart extends Part {
  readonly fleet: Fleet;
}

export async function composeFleet(foundation: Foundation, { prices }: Pick<Money, "prices">): Promise<FleetPart> {
  const { storage, config, secrets, catalogue, tracer, metrics, clock, random, logger } = foundation;
  const healthChanged = createServerEvents(foundation);
  const fleet = createFleet({
    models: catalogue.list(),
    config: config.fleet,
    engines: (server, model) => {
      const engine = createEngine(server, model, config.fleet, clock, tellLoading(model.id, logger));
      return tracer === undefined ? engine : traceEngine(engine, server, tracer);
    },
    clock,
    random,
    logger,
    lookup: systemLookup,
    observer: metrics.fleet,
    healthChanged,
    ...(secrets.rateLimitUrl !== "memory:" && { channel: await openChannel(secrets.rateLimitUrl, clock) }),
  });
  const kept = new KeptDrains({ storage, fleet, clock, logger });
  await kept.apply();
  const stopFollowing = kept.follow();
  const ids = () => catalogue.list().map(({ id }) => id);
  const priceDays = keep(clock, keptMs, () => readPriceDays(storage, ids(), clock.now()));
  const ownTerms = keepOwnPrices(clock, (accountId) => readOwnPrices(storage.orm.em.fork(), accountId));
  const onDrain = (server: string, draining: boolean) => kept.keep(server, draining);
  return {
    fleet,
    services: [
      registration(
        CatalogueService,
        createCatalogueService({ catalogue, prices, fleet, ownTerms, onDrain, priceDays }),
      ),
    ],
    async stop() {
      stopFollowing();
      await fleet.close();
    },
  };
}

const mebibyte = 2 ** 20;

/** Logs the progress of a model that is loaded into this process. */
export function tellLoading(model: string, logger: Pick<Logger, "info">, now?: () => number) {
  const report = trackProgress(`loading ${model}`, "MiB", (text) => logger.info({}, text), now);
  return (done: number, total: number) => report(Math.floor(done / mebibyte), Math.ceil(total / mebibyte));
}

/** One core by itself does not hold the client of Redis in its memory. */
async function openChannel(url: string, clock: Clock): Promise<FleetChannel> {
  const { RedisChannel } = await import("#src/fleet/sharing/redis-channel.ts");
  return new RedisChannel(url, clock);
}
