import { join } from "node:path";
import { formatUsd } from "#lib/money/money.ts";
import { dayName } from "#lib/time/days.ts";
import type { Config } from "#src/config/schema.ts";
import { createFunds } from "#src/money/books/payments/funds.ts";
import type { PaymentLimits } from "#src/money/books/payments/payments.ts";
import { readLastProof } from "#src/money/books/proof/last-proof.ts";
import { openCoreJournal } from "#src/money/journal/core-journal.ts";
import type { CoreJournal } from "#src/money/journal/file-journal.ts";
import { createLedger } from "#src/money/ledger/ledger.ts";
import { DeadLetters } from "#src/money/ledger/settlement/dead-letters.ts";
import { createDebts } from "#src/money/ledger/wallet/debts.ts";
import type { CoreLedger } from "#src/money/model/core-ledger.ts";
import type { MeteringObserver } from "#src/money/model/observer.ts";
import type { Alongside, Funds } from "#src/money/model/payments.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import type { PriceBook } from "#src/money/prices/price-book.ts";
import type { PriceList } from "#src/money/prices/price-list.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { readKeptFrom } from "#src/money/store/kept-from.ts";
import { BalanceEvents } from "#src/money/thresholds/balance-events.ts";
import type { Announce } from "#src/storage/outbox/announcer.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { Foundation } from "../../foundation.ts";
import { readPicoUsd } from "../amount.ts";
import { describeProof } from "./proof-event.ts";

/** The part of the foundation that the ledger depends on. */
export type MoneyFoundation = Pick<
  Foundation,
  "config" | "secrets" | "logger" | "random" | "clock" | "storage" | "announce"
> & {
  readonly metrics: Pick<Foundation["metrics"], "metering" | "labels">;
  /** The rates that lots pay. Absent: a book of the usual size. */
  readonly priceBook?: PriceBook | undefined;
};

/** The journal and the store that the ledger writes to. */
export interface MoneyGround {
  readonly journal: CoreJournal;
  readonly store: LedgerStore;
}

/** The books: the ledger with the journal, and payments. */
export interface Books {
  readonly prices: PriceList;
  readonly observer: MeteringObserver;
  /** When a core last proved the books, and with what result. Undefined: never. */
  readonly lastProof: () => Proof | undefined;
  readonly deadLetters: DeadLetters;
  readonly ledger: CoreLedger;
  readonly funds: Funds;
  readonly store: Pick<
    LedgerStore,
    | "recordRequests"
    | "isCharged"
    | "foldTallies"
    | "makeDays"
    | "removeReceipts"
    | "unseenTallies"
    | "markSeen"
    | "budgetSpending"
    | "recountBudget"
  >;
  /** Announces balances that run low. */
  readonly balances: BalanceEvents;
  /** The announcements about accounts between cores that share a store. */
  readonly announcements: Pick<LedgerStore, "listen" | "announce">;
}

/** The time of a proof of the books, and its result. */
export interface Proof {
  readonly at: number;
  readonly ok: boolean;
}

/** Opens the journal in the data directory, and the ledger's statements for the database. */
export function openGround({ config, secrets, logger, metrics, random, clock, storage }: MoneyFoundation): MoneyGround {
  const inMemory = storage.dialect === "sqlite" && storage.path === ":memory:";
  const journal = openCoreJournal(join(secrets.dataDir, "cores"), inMemory, { clock, random, logger });
  const store = createLedgerStore(storage, random, journal.coreId, {
    clock,
    listenUrl: secrets.listenUrl,
    usageEvents: config.usage_events.url !== undefined,
    dayMissing(day) {
      metrics.metering.dayMissing();
      logger.error({ day: dayName(day) }, "a day had no table for its receipts");
    },
    ended(error, restartMs) {
      metrics.metering.threadEnded();
      logger.error({ error, restartMs }, "the thread that writes the ledger ended and is started again");
    },
  });
  return { journal, store };
}

/** Opens the books: recovers what an earlier process left in the journal, then takes requests. */
export async function composeBooks(
  foundation: MoneyFoundation,
  prices: PriceList,
  { journal, store }: MoneyGround,
): Promise<Books> {
  const { config, logger, metrics, random, clock, storage, announce } = foundation;
  const deadLetters = new DeadLetters({ storage, clock, coreId: journal.coreId });
  const last = await readLastProof(storage);
  let proved: Proof | undefined = last && { at: last.at, ok: last.proof.ok };
  const observer: MeteringObserver = {
    ...metrics.metering,
    reconciled(proof) {
      const { ok } = proof;
      proved = { at: clock.now(), ok };
      metrics.metering.reconciled(proof);
      const event = { type: ok ? "books.proved" : "books.failed", data: describeProof(proof) } as const;
      inTransaction(storage, (em) => announce(em, event)).catch((error: unknown) =>
        logger.error({ error }, "could not tell of the proof of the books"),
      );
    },
    provedElsewhere(at, ok) {
      proved = { at, ok };
      metrics.metering.provedElsewhere(at, ok);
    },
  };
  const balances = new BalanceEvents({ prices, clock, announce });
  const debts = createDebts({ storage, clock, random, balances });
  const ledger = await createLedger({
    store,
    debts,
    prices,
    journal,
    deadLetters,
    clock,
    machine: clock.machine,
    random,
    logger,
    observer,
    readKeptFrom: () => readKeptFrom(storage),
    turns: storage.dialect === "postgresql" ? () => storage.history.turns : undefined,
  });
  const funds = createFunds({
    storage,
    ledger,
    limits: readPaymentLimits(config),
    clock,
    random,
    announce: announceMovement(announce),
    balances,
  });
  const lastProof = () => proved;
  return { prices, observer, lastProof, deadLetters, ledger, funds, store, balances, announcements: store };
}

/** Announces money that comes in and goes back. */
function announceMovement(announce: Announce): Alongside {
  const types = { paid: "account.topped_up", grant: "account.granted", free: "account.granted" } as const;
  return (em, { accountId, kind, amount, reference, lotId, undoes }) =>
    announce(em, {
      type: kind === "refund" ? "account.refunded" : types[kind],
      accountId,
      data: {
        ...{ amount_usd: formatUsd(BigInt(amount)), reference, lot_id: lotId },
        ...(undoes !== undefined && { undoes }),
      },
    });
}

/** The bounds of payments. */
export function readPaymentLimits({ payments }: Config): PaymentLimits {
  return {
    minimum: readPicoUsd(payments.minimum_usd),
    maximum: readPicoUsd(payments.maximum_usd),
    rolling24h: readPicoUsd(payments.rolling_24h_usd),
  };
}
