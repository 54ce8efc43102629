import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { isHashed } from "#src/config/schema/labels.ts";
import type { ArchivedReceipts } from "#src/money/books/receipts/archived-receipts.ts";
import { ConfiguredLabels, type Labels } from "#src/money/labels/labels.ts";
import { attendLabels } from "#src/money/labels/stored-values.ts";
import { createPrices } from "#src/money/prices/prices.ts";
import { findRatePolicy } from "#src/money/rate-limits/max-rpm.ts";
import { openWindows } from "#src/money/rate-limits/open-windows.ts";
import { type ConfiguredRateLimits, createRateLimits } from "#src/money/rate-limits/rate-limits.ts";
import { ReadReceipts } from "#src/money/retention/archived-receipts.ts";
import type { ArchivePlace } from "#src/money/retention/place.ts";
import { ArchiveReader } from "#src/money/retention/read-archive.ts";
import { createBooksService } from "#src/services/metering/books-service.ts";
import { createMeteringService } from "#src/services/metering/metering-service.ts";
import { createPricesService } from "#src/services/metering/prices-service.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import type { Part } from "../interface.ts";
import { findArchivePlace } from "./books/archive-place.ts";
import { type Books, composeBooks, type MoneyFoundation, type MoneyGround, openGround } from "./books/books.ts";

/** Prices, the ledger, payments, rate limits. */
export interface Money extends Part, Books {
  readonly windows: Awaited<ReturnType<typeof openWindows>>;
  readonly rateLimits: ConfiguredRateLimits;
  readonly labels: Labels;
  /** Where archives are. */
  readonly place: ArchivePlace;
  readonly archives: ArchivedReceipts;
}

/** `open` opens the ground once there are prices. A simulation passes its own. */
export async function composeMoney(
  foundation: MoneyFoundation,
  open: (foundation: MoneyFoundation) => MoneyGround = openGround,
): Promise<Money> {
  const { config, secrets, logger, random, clock, storage, announce, priceBook, metrics } = foundation;
  const prices = await createPrices({ storage, clock, random, models: config.models, announce, book: priceBook });
  const books = await composeBooks(foundation, prices, open(foundation));
  const { ledger, deadLetters, observer } = books;
  const windows = await openWindows(secrets.rateLimitUrl, { clock, random, logger });
  const rateLimits = createRateLimits({
    policy: findRatePolicy(config),
    windows,
    fundingState: (accountId) => ledger.fundingState(accountId),
    clock,
  });
  const kept = config.labels.keep.map((label) => ({ name: label.name, hash: isHashed(label) }));
  const labels = new ConfiguredLabels({
    kept,
    valuesPerDay: config.labels.values_per_day,
    peppers: secrets.peppers,
    clock,
    observe: metrics.labels,
  });
  const stopLabels = attendLabels({ storage, clock, logger, labels, keepDays: config.labels.keep_days });
  const found = findArchivePlace(foundation);
  const place = found instanceof Promise ? await found : found;
  const archives = new ReadReceipts(storage, new ArchiveReader(place));
  return {
    ...books,
    windows,
    rateLimits,
    labels,
    place,
    archives,
    services: [
      registration(MeteringService, createMeteringService({ storage, clock, archives, labels: kept })),
      registration(PricesService, createPricesService(prices, storage)),
      registration(
        BooksService,
        createBooksService({ storage, ledger, deadLetters, archives, observer, clock, logger }),
      ),
    ],
    async stop() {
      stopLabels();
      await windows.close();
      await ledger.close();
    },
  };
}
