import { systemRandom } from "#lib/ids/random.ts";
import { FileJournal } from "#src/money/journal/file-journal.ts";
import type { JournalFile } from "#src/money/journal/journal-file.ts";
import { decode } from "#src/money/journal/journal-record.ts";
import { createLedger } from "#src/money/ledger/ledger.ts";
import { DeadLetters } from "#src/money/ledger/settlement/dead-letters.ts";
import { createDebts } from "#src/money/ledger/wallet/debts.ts";
import type { CoreLedger } from "#src/money/model/core-ledger.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import type { PriceList } from "#src/money/prices/price-list.ts";
import { readKeptFrom } from "#src/money/store/kept-from.ts";
import { SqliteLedgerStore } from "#src/money/store/sqlite/store.ts";
import type { SqliteStorage } from "#src/storage/storage.ts";
import type { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { silentObserver } from "../../silent-observer.ts";
import { lostReplies, mortal } from "./mortal-store.ts";

interface Parts {
  readonly clock: ManualClock;
  readonly storage: SqliteStorage;
  readonly prices: PriceList;
}

const logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Cores that live one after the other, each on the journal of the one before. Those that are dead do nothing any more. */
export class Cores {
  /** What befalls calls to the store. Undefined: nothing. */
  fault: "before" | "after" | "lost" | undefined;
  readonly #parts: Parts;
  readonly #debts;
  readonly #deadLetters;
  #disk = "";
  #era = 0;

  constructor({ clock, storage, prices }: Parts) {
    this.#parts = { clock, storage, prices };
    this.#debts = createDebts({ storage, clock, random: systemRandom });
    this.#deadLetters = new DeadLetters({ storage, clock, coreId: "core" });
  }

  async start(): Promise<CoreLedger> {
    const { clock, storage, prices } = this.#parts;
    const mine = ++this.#era;
    const file = this.#openJournal(mine);
    const content = decode(file.read());
    const journal = new FileJournal(file, { clock, logger, coreId: "core", content, unlock() {} });
    return clock.until(
      createLedger({
        ...{ store: this.#openStore(mine), debts: this.#debts, prices, journal, deadLetters: this.#deadLetters },
        ...{ clock, random: systemRandom, logger, observer: silentObserver },
        readKeptFrom: () => readKeptFrom(storage),
      }),
    );
  }

  #openStore(mine: number): LedgerStore {
    return mortal(new SqliteLedgerStore(this.#parts.storage.exclusive, systemRandom, "core"), {
      isDead: () => mine !== this.#era,
      isAway: (name) => this.fault === "before" && name === "settle",
      losesReply: (name) => this.#repliesLost().includes(name),
    });
  }

  /** The store's functions whose replies are lost now. */
  #repliesLost(): readonly string[] {
    return this.fault === undefined || this.fault === "before" ? [] : lostReplies[this.fault];
  }

  #openJournal(mine: number): JournalFile {
    const cores = this;
    return {
      path: "the journal",
      get size() {
        return cores.#disk.length;
      },
      read: () => Buffer.from(this.#disk),
      append: (text: string) => {
        if (mine === this.#era) {
          this.#disk += text;
        }
      },
      gather: async () => {},
      sync: async () => {},
      replace: (text: string) => {
        if (mine === this.#era) {
          this.#disk = text;
        }
      },
      setAside: 0,
      keepAside() {
        throw new Error("the journal has damaged records");
      },
      close() {},
    };
  }
}
