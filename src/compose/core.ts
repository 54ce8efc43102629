import type { RequestListener } from "node:http";
import { join } from "node:path";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { systemRandom } from "../../lib/ids/random.ts";
import type { Logger } from "../../lib/logger.ts";
import { parseUsd } from "../../lib/money.ts";
import { systemLookup } from "../../lib/net/lookup.ts";
import type { Overload } from "../../lib/overload/monitor.ts";
import { keepDirectoryPrivate } from "../../lib/private-files.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { Accounts } from "../accounts/accounts.ts";
import { createAccountsService } from "../accounts/accounts-service.ts";
import { ApiKeys } from "../accounts/api-keys.ts";
import { createAuthenticator } from "../accounts/authenticator.ts";
import { KeyFilter } from "../accounts/key-filter.ts";
import { LastUsed } from "../accounts/last-used.ts";
import { reportPeppers } from "../accounts/report-peppers.ts";
import { verifyPeppers } from "../accounts/verify-peppers.ts";
import { createCatalogue } from "../catalogue/catalogue.ts";
import { createCatalogueService } from "../catalogue/catalogue-service.ts";
import type { Config } from "../config/schema.ts";
import type { Secrets } from "../config/secrets.ts";
import { createEmbeddingsService } from "../embeddings/embeddings-service.ts";
import { createEngine } from "../engines/create-engine.ts";
import { createFleet } from "../fleet/create-fleet.ts";
import { createDirectTransport } from "../grpc/direct/direct-transport.ts";
import type { Gate } from "../grpc/server/gate.ts";
import { registration, type ServiceRegistration } from "../grpc/server/registration.ts";
import { createInferenceService } from "../inference/inference-service.ts";
import type { ReadAheadSettings } from "../inference/read-ahead.ts";
import { ReadAheadMemory } from "../inference/read-ahead-memory.ts";
import { authenticate, createGate } from "../interceptors/authenticate.ts";
import { trustCertified, trustFacades } from "../interceptors/client-address.ts";
import { hideErrors } from "../interceptors/errors.ts";
import { createFailedAttempts } from "../interceptors/failed-attempts.ts";
import { logCalls } from "../interceptors/log.ts";
import { observeCalls } from "../interceptors/observe.ts";
import { shedLoad } from "../interceptors/shed-load.ts";
import { startBackground } from "../metering/background.ts";
import { createBooksService } from "../metering/books/books-service.ts";
import { createDebts } from "../metering/books/debts.ts";
import { createFunds, type PaymentLimits } from "../metering/books/funds.ts";
import { DeadLetters } from "../metering/dead-letters/dead-letters.ts";
import { openJournal } from "../metering/journal/file-journal.ts";
import { createLedger } from "../metering/ledger/ledger.ts";
import { unavailable } from "../metering/ledger/unavailable.ts";
import { createMeteringService } from "../metering/metering-service.ts";
import { createPrices } from "../metering/prices/prices.ts";
import { createPricesService } from "../metering/prices/prices-service.ts";
import { ratePolicyOf } from "../metering/rate-limits/max-rpm.ts";
import { openWindows } from "../metering/rate-limits/open-windows.ts";
import { createRateLimits } from "../metering/rate-limits/rate-limits.ts";
import { createLedgerStore } from "../metering/store/create.ts";
import type { Payment } from "../payments/stripe-payment.ts";
import { createStripeWebhook, stripePath } from "../payments/stripe-webhook.ts";
import { DatabaseClock } from "../storage/database-clock.ts";
import { openStorage } from "../storage/orm.ts";
import { isUnreachable } from "../storage/unreachable.ts";
import { coreMetrics } from "../telemetry/core-metrics.ts";
import { traceCalls } from "../telemetry/traces/calls.ts";
import { traceEngine } from "../telemetry/traces/engine.ts";
import type { Lifecycle } from "./process/lifecycle.ts";
import type { Telemetry } from "./process/tracing.ts";

/** The core's services behind their interceptors, ready to be mounted on any transport. */
export interface Core {
  readonly services: readonly ServiceRegistration[];
  readonly interceptors: readonly Interceptor[];
  /** Judges calls before their messages are read. */
  readonly gate: Gate;
  /** By path; served over plain HTTP by a listener of their own. */
  readonly webhooks: ReadonlyMap<string, RequestListener>;
  /** Takes models, servers, prices and rate limits over from another configuration. Throws, and changes nothing, when it cannot. */
  reload(config: Config): Promise<void>;
  readonly drains: Drains;
}

/** Keeps the drained servers of several processes the same. */
export interface Drains {
  /** Tells what the operator drains and resumes here. */
  share(tell: (server: string, draining: boolean) => void): void;
  /** Drains or resumes what the operator did elsewhere; a server that is not served here is left alone. */
  take(server: string, draining: boolean): void;
}

/** Puts the core together: storage, money, limits, fleet, services. What needs an end is told to the lifecycle. */
export async function composeCore(
  config: Config,
  secrets: Secrets,
  lifecycle: Lifecycle,
  logger: Logger,
  { registry, tracer }: Telemetry,
  overload: Overload,
): Promise<Core> {
  const random = systemRandom;
  const catalogue = createCatalogue(config.models, new Date());
  const metrics = coreMetrics(registry, systemClock, () => catalogue.list().map(({ id }) => id));
  if (!keepDirectoryPrivate(secrets.dataDir)) {
    logger.warn(
      { directory: secrets.dataDir },
      "other users may read the data directory: take it from them (mode 0700)",
    );
  }
  const storage = await openStorage(secrets.storageUrl, undefined, (found) =>
    logger.warn({ found }, "the database server is dangerous"),
  );
  lifecycle.onStop(() => storage.close());
  // Money and keys live by the database's time; only what has no part in either goes by the machine's.
  const clock = await DatabaseClock.open(storage, systemClock, logger);
  const stopMeasuring = clock.keepMeasuring();
  lifecycle.onStop(async () => stopMeasuring());

  const prices = await createPrices({ storage, clock, models: config.models });
  const journal = openJournal(join(secrets.dataDir, "cores"), { clock, random, logger });
  const store = createLedgerStore(storage, random, journal.coreId);
  const deadLetters = new DeadLetters({ storage, clock, coreId: journal.coreId });
  const ledger = await createLedger({
    ...{
      store,
      debts: createDebts({ storage, clock, random }),
      prices,
      journal,
      deadLetters,
      clock,
      random,
      logger,
      observer: metrics.metering,
    },
  });
  lifecycle.onStop(() => ledger.close());
  const funds = createFunds({ storage, ledger, limits: paymentLimits(config), clock, random });

  const windows = await openWindows(secrets.rateLimitUrl, { clock, random, logger });
  lifecycle.onStop(() => windows.close());
  const rateLimits = createRateLimits({
    policy: ratePolicyOf(config),
    windows,
    fundingState: (accountId) => ledger.fundingState(accountId),
    clock,
  });

  const fleet = createFleet({
    models: catalogue.list(),
    config: config.fleet,
    engines: (server, model) => {
      const engine = createEngine(server, model, config.fleet);
      return tracer === undefined ? engine : traceEngine(engine, server, tracer);
    },
    clock,
    random,
    logger,
    lookup: systemLookup,
    observer: metrics.fleet,
  });
  lifecycle.onStop(() => fleet.close());
  const stopBackground = startBackground({
    ...{ storage, ledger, prices, models: () => catalogue.list(), pricing: config.pricing, clock, random, logger },
    deadLetters,
    observer: metrics.metering,
    utilisation: (model) => fleet.utilisation(model),
  });
  lifecycle.onStop(async () => stopBackground());
  metrics.watch({ clock, ledger, windows, prices, fleet });

  const [pepper] = secrets.peppers;
  const accounts = new Accounts(storage);
  const keys = new ApiKeys({
    ...{ storage, clock, random, pepper, prefix: config.keys.prefix },
    added: (digest) => keyFilter.add(digest),
  });
  const keyFilter = new KeyFilter(
    { after: (id) => keys.digestsAfter(id), ofAccounts: (accountIds) => keys.digestsOfAccounts(accountIds) },
    clock,
  );
  await verifyPeppers(storage, secrets.peppers);
  await reportPeppers(keys, secrets.peppers, logger);
  const lastUsed = new LastUsed((ids, at) => keys.storeLastUsed(ids, at), clock, logger);
  lifecycle.onStop(() => lastUsed.flush());
  const authenticator = createAuthenticator({
    ...secrets,
    mayExist: (digests) => keyFilter.mayExist(digests),
    findKey: (digests) => keys.find(digests),
    lastUsed,
    clock,
  });

  const stopKeyFilter = keyFilter.start(logger);
  lifecycle.onStop(async () => stopKeyFilter());
  await store.listen((accountId) => {
    keyFilter.announce(accountId);
    authenticator.forget(accountId);
  });
  const keysChanged = (accountId: string) => {
    authenticator.forget(accountId);
    // One that gets lost is made up for by the age that other cores let an answer about a key have.
    store.announce(accountId).catch((error: unknown) => logger.warn({ error }, "a changed key was not announced"));
  };
  const accountsService = createAccountsService({
    accounts,
    keys,
    funds,
    rateLimits,
    clock,
    random,
    keysChanged,
    maxKeys: config.keys.max_per_account,
    freeGrant: Number(picoUsd(config.free_tier.grant_usd)),
  });
  const serving = { catalogue, fleet, ledger, rateLimits, random, observer: metrics.inference };
  const cacheSalt = config.fleet.cache_salt;
  const readers = { ...readerLimits(config), clock };
  let shareDrain: Parameters<Drains["share"]>[0] = () => {};
  const services = [
    registration(InferenceService, createInferenceService({ ...serving, logger, cacheSalt, readers })),
    registration(EmbeddingsService, createEmbeddingsService(serving)),
    registration(AccountsService, accountsService),
    registration(MeteringService, createMeteringService({ storage, rateLimits })),
    registration(PricesService, createPricesService(prices)),
    registration(
      BooksService,
      createBooksService({ storage, ledger, deadLetters, observer: metrics.metering, logger }),
    ),
    registration(
      CatalogueService,
      createCatalogueService({ catalogue, prices, fleet, onDrain: (...drain) => shareDrain(...drain) }),
    ),
  ];
  const { tls, trusted_facades } = config.listen;
  const trustsPeer = tls?.client_ca === undefined ? trustFacades(trusted_facades) : trustCertified;
  const gate = createGate(authenticator, createFailedAttempts({}, clock), trustsPeer);
  const interceptors = [
    ...(tracer === undefined ? [] : [traceCalls(tracer)]),
    observeCalls(clock, [logCalls(logger, clock), metrics.calls]),
    shedLoad(overload),
    hideErrors(logger, (error) =>
      isUnreachable(error) ? unavailable("The database cannot be reached at the moment.", error) : undefined,
    ),
    authenticate(gate),
  ];
  const webhooks = new Map<string, RequestListener>();
  if (secrets.stripeWebhookSecret !== undefined) {
    const client = createClient(AccountsService, createDirectTransport(services, interceptors));
    const headers = { authorization: `Bearer ${secrets.operatorToken}` };
    const topUp = async (payment: Payment) => void (await client.topUp(payment, { headers }));
    const parts = { secret: secrets.stripeWebhookSecret, topUp, observe: metrics.webhook, clock, logger };
    webhooks.set(stripePath, createStripeWebhook(parts));
  }
  return {
    drains: {
      share(tell) {
        shareDrain = tell;
      },
      take(server, draining) {
        if (!fleet.servers().some(({ id }) => id === server)) return;
        if (draining) fleet.drain(server);
        else fleet.resume(server);
      },
    },
    async reload(next) {
      const models = catalogue.describe(next.models, new Date());
      const change = fleet.prepare(models);
      try {
        await prices.adopt(models);
      } catch (error) {
        change.discard();
        throw error;
      }
      change.apply();
      catalogue.replace(models);
      rateLimits.adopt(ratePolicyOf(next));
    },
    webhooks,
    services,
    interceptors,
    gate,
  };
}

function readerLimits({ readers }: Config): Pick<ReadAheadSettings, "memory" | "limits"> {
  return {
    memory: new ReadAheadMemory(readers.memory_mib * 1024 * 1024),
    limits: {
      answerBytes: readers.buffer_kib * 1024,
      minBytesPerSecond: readers.min_bytes_per_s,
      patienceMs: readers.patience_s * 1000,
    },
  };
}

function paymentLimits({ payments }: Config): PaymentLimits {
  return {
    minimum: picoUsd(payments.minimum_usd),
    maximum: picoUsd(payments.maximum_usd),
    rolling24h: picoUsd(payments.rolling_24h_usd),
  };
}

/** An amount that the configuration's schema has already judged. */
function picoUsd(usd: string): bigint {
  const amount = parseUsd(usd);
  if (amount === undefined) throw new Error(`${usd} is no amount of USD`);
  return amount;
}
