import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Clock } from "#lib/time/clock.ts";
import type { LedgerState } from "#src/money/model/ledger.ts";
import type { MeteringObserver } from "#src/money/model/observer.ts";
import { TalliedCounter } from "../../tallies/counter.ts";

/** Pico-USD in one USD. Floating point is enough for graphs; receipts and balances are exact. */
const perUsd = 1e12;

/** Measures settlements, holds and the books. */
export function meteringMetrics(registry: Registry, clock: Clock, models: () => readonly string[]): MeteringObserver {
  const registers = [registry];
  const cost = new TalliedCounter({
    name: "tollgate_cost_usd_total",
    help: "Cost of settled requests in USD. Rounded for graphs; receipts are exact.",
    labelNames: ["model"],
    registers,
  });
  const settlements = new TalliedCounter({
    name: "tollgate_settlements_total",
    help: "Charges in the store, by how their request ended.",
    labelNames: ["status"],
    registers,
  });
  const shortfall = new Counter({
    name: "tollgate_shortfall_usd_total",
    help: "Cost in USD that no money was left for. Anything above 0 is worth a look.",
    registers,
  });
  const uncharged = new Counter({
    name: "tollgate_uncharged_requests_total",
    help: "Requests that were run but will never be charged.",
    labelNames: ["model"],
    registers,
    collect() {
      // Begins at 0, because a counter that first appears as 1 shows no increase to an alarm.
      for (const model of models()) {
        this.inc({ model }, 0);
      }
    },
  });
  const deadLettered = new Counter({
    name: "tollgate_dead_lettered_charges_total",
    help: "Charges that could not be made and were put among the dead letters.",
    labelNames: ["model"],
    registers,
    collect() {
      for (const model of models()) {
        this.inc({ model }, 0);
      }
    },
  });
  const deadLetters = new Gauge({
    name: "tollgate_dead_letters",
    help: "Charges of all cores that could not be made and wait for an operator. Absent until first counted.",
    registers,
  });
  deadLetters.remove();
  const commits = new Histogram({
    name: "tollgate_settlement_commit_seconds",
    help: "Time that the store takes to commit a group of charges.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  });
  const groups = new Histogram({
    name: "tollgate_settlement_group_size",
    help: "Charges that were committed together.",
    buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500],
    registers,
  });
  const refusals = new Counter({
    name: "tollgate_settlement_failures_total",
    help: "Times that the store did not take a group of charges; they are tried again.",
    registers,
  });
  const putBack = new Counter({
    name: "tollgate_charges_put_back_total",
    help: "Acknowledged charges that the database had lost when a standby became the primary, and that were made again.",
    registers,
  });
  const fenced = new Counter({
    name: "tollgate_settlements_fenced_total",
    help: "Charges that came after the money set aside for them was given to others, and were made anew.",
    registers,
  });
  const broken = new Counter({
    name: "tollgate_ledger_broken_wallets_total",
    help: "Accounts that a core refuses since their money moved as it never may: a fault of the program.",
    registers,
  });
  const threadEnds = new Counter({
    name: "tollgate_ledger_thread_ends_total",
    help: "Times that the thread that writes the ledger of a SQLite file ended; it is started again.",
    registers,
  });
  const daysAhead = new Gauge({
    name: "tollgate_receipt_days_ahead",
    help: "Days to come whose receipts have their table. Absent on SQLite.",
    registers,
  });
  daysAhead.remove();
  const daysMissing = new Counter({
    name: "tollgate_receipt_days_missing_total",
    help: "Days whose table was missing when a receipt came; it was made at once.",
    registers,
  });
  const invariant = new Gauge({
    name: "tollgate_ledger_invariant_ok",
    help: "Whether the books added up when they were last proved: 1 or 0. Absent until the first proof.",
    registers,
  });
  invariant.remove();
  const provedAt = new Gauge({
    name: "tollgate_ledger_proved_timestamp_seconds",
    help: "When the books were last proved. Absent until the first proof.",
    registers,
  });
  provedAt.remove();
  return {
    charged(model, picoUsd, short, status) {
      cost.add(picoUsd / perUsd, model);
      settlements.add(1, status);
      if (short > 0) {
        shortfall.inc(short / perUsd);
      }
    },
    deadLetters: (waiting) => deadLetters.set(waiting),
    daysAhead: (days) => daysAhead.set(days),
    dayMissing: () => daysMissing.inc(),
    deadLettered: (model) => deadLettered.inc({ model }),
    uncharged: (model) => uncharged.inc({ model }),
    committed(charges, ms) {
      commits.observe(ms / 1000);
      groups.observe(charges);
    },
    refused: () => refusals.inc(),
    putBack: (charges) => putBack.inc(charges),
    fenced: () => fenced.inc(),
    broken: () => broken.inc(),
    threadEnded: () => threadEnds.inc(),
    reconciled({ ok }) {
      invariant.set(ok ? 1 : 0);
      provedAt.set(clock.now() / 1000);
    },
    provedElsewhere(at, ok) {
      invariant.set(ok ? 1 : 0);
      provedAt.set(at / 1000);
    },
  };
}

/** Shows the ledger's state at every scrape. */
export function watchLedger(registry: Registry, state: () => LedgerState): void {
  const gauge = (name: string, help: string, value: (state: LedgerState) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value(state()));
      },
    });
  gauge("tollgate_holds", "Running requests that money is held for.", ({ holds }) => holds);
  gauge("tollgate_held_usd", "Money held for running requests, in USD.", ({ held }) => held / perUsd);
  gauge("tollgate_settlement_backlog", "Charges that wait for the store.", ({ backlog }) => backlog);
  gauge("tollgate_journal_bytes", "Size of the journal; it shrinks when it passes 16 MiB.", (at) => at.journalBytes);
  gauge(
    "tollgate_journal_set_aside",
    "Damaged records of the journal that are kept aside, in journal.aside beside it.",
    (at) => at.journalSetAside,
  );
  gauge("tollgate_ledger_admits", "Whether the ledger takes requests: 1 or 0.", ({ admits }) => (admits ? 1 : 0));
}

/** Shows at every scrape how far the clocks are apart. */
export function watchClock(registry: Registry, clock: { readonly apart: number }): void {
  new Gauge({
    name: "tollgate_clock_disagreement_seconds",
    help: "How far this core's clock or the database's is ahead of the time that money and keys live by, the larger one; behind it is below 0.",
    registers: [registry],
    collect() {
      this.set(clock.apart / 1000);
    },
  });
}

/** Shows at every scrape whether cores count requests together. */
export function watchRateLimits(registry: Registry, windows: { readonly areShared: boolean }): void {
  new Gauge({
    name: "tollgate_rate_limits_shared",
    help: "Whether all cores count requests together: 1, or 0 while each applies its share of the limits alone.",
    registers: [registry],
    collect() {
      this.set(windows.areShared ? 1 : 0);
    },
  });
}
