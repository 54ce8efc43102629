import { withDiskAdvice } from "#lib/errors/disk-faults.ts";
import { Outage } from "#lib/errors/outage.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Charge } from "../model/charges/charge.ts";
import type { Run } from "../model/charges/run.ts";
import type { Journal, JournalEntry, JournalOwner, JournalRemains } from "./journal.ts";
import type { JournalFile } from "./journal-file.ts";
import { foreign, isNobodys } from "./journal-owner.ts";
import { encodeHeader, type JournalContent } from "./journal-record.ts";
import { encodePromises, Unfinished } from "./unfinished.ts";

/** How long a note may wait before it is written: a killed process loses no more than this. */
const flushMs = 50;
/** How long to wait before a disk that failed is tried again. */
const retryMs = 1000;
/** Without a failure for so long a disk has room again: a full one takes a line now and then. */
const roomMs = 10_000;
/** Empty lines, which readers skip, as large as a block: what is left of the last one is too little for most notes. */
const probe = "\n".repeat(4096);
/**
 * In bytes. A larger file is rewritten with only the records that still count, once it has doubled since its last
 * rewrite.
 */
const large = 16 * 1024 * 1024;

/** A journal that knows the id of its core. */
export interface CoreJournal extends Journal {
  readonly coreId: string;
}

/** A journal in a file. */
export class FileJournal implements CoreJournal {
  readonly coreId: string;
  readonly instance: string | undefined;
  readonly lasting = true;
  readonly #file: JournalFile;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #outage: Outage;
  readonly #unlock: () => void;
  readonly #unfinished: Unfinished;
  #owner: JournalOwner | undefined;
  /** Whether the file does not name its owner yet. */
  #ownerDue = false;
  /** Lines of the file that are no records and are not kept aside yet. Until they are, the file is not replaced. */
  #unusable: readonly Uint8Array[];
  /** Ends a torn last line of the file. */
  #lineEnd: string;
  #healthy = true;
  /** When the disk last refused something, by the monotonic clock. */
  #refusedAt = Number.NEGATIVE_INFINITY;
  #syncing = 0;
  /**
   * The file's size after its last rewrite: a slow store may leave so many charges to the journal that it stays large.
   */
  #keptBytes = 0;
  #stopTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(
    file: JournalFile,
    parts: {
      clock: Clock;
      logger: Logger;
      coreId: string;
      /** The file's content. */
      content: JournalContent;
      unlock: () => void;
      instance?: string | undefined;
    },
  ) {
    this.coreId = parts.coreId;
    this.instance = parts.instance;
    this.#file = file;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#outage = new Outage(
      parts,
      "the journal cannot be written; no new requests until it can",
      "the journal can be written again",
    );
    this.#unlock = parts.unlock;
    this.#owner = parts.content.owner;
    this.#unusable = parts.content.unusable;
    this.#lineEnd = parts.content.torn ? "\n" : "";
    this.#unfinished = new Unfinished(parts.content.records);
    if (isNobodys(parts.content)) {
      this.#setAsideAll();
    }
    this.#rewrite();
  }

  /**
   * Sets unfinished requests and charges aside for people: in another database they would take other accounts' money.
   */
  #setAsideAll(): void {
    const lines = this.#unfinished.takeAll();
    this.#unusable = [...this.#unusable, ...lines.map((line) => Buffer.from(line.trimEnd()))];
    this.#logger.error(
      { requests: lines.length, journal: this.#file.path },
      "the line that says whose the journal is is damaged: its unfinished requests are kept aside and not charged",
    );
    // Not later: once the file names an owner, they would be charged at the next start.
    withDiskAdvice(this.#file.path, () => this.#keepAside());
  }

  get healthy(): boolean {
    return this.#healthy;
  }

  get size(): number {
    return this.#file.size;
  }

  get setAside(): number {
    return this.#file.setAside + this.#unusable.length;
  }

  async read(databaseId: string): Promise<JournalRemains> {
    const { running, charges } = this.#unfinished;
    const own = this.#owner?.databaseId === databaseId && this.#owner.coreId === this.coreId;
    if (this.#owner !== undefined && !own && running.length + charges.length > 0) {
      throw foreign(this.#file.path, this.#owner, { databaseId, coreId: this.coreId }, running.length + charges.length);
    }
    return { epoch: own ? (this.#owner?.epoch ?? 0) : 0, charges, running };
  }

  begin({ databaseId, epoch }: Pick<JournalOwner, "databaseId" | "epoch">): void {
    this.#owner = { databaseId, coreId: this.coreId, epoch };
    this.#ownerDue = true;
    this.#flush();
  }

  note(entry: JournalEntry): void {
    this.#unfinished.note(entry);
    this.#flushLater(flushMs);
  }

  forget(run: Run): void {
    if (this.#unfinished.forget(run)) {
      this.#flushLater(flushMs);
    }
  }

  gather(): Promise<void> {
    return this.#file.gather();
  }

  async promise(charges: readonly Charge[]): Promise<boolean> {
    if (!this.#append(encodePromises(charges), charges, true)) {
      return false;
    }
    this.#unfinished.promise(charges);
    this.#syncing++;
    try {
      await this.#file.sync();
      this.#healthy = true;
      return true;
    } catch (error) {
      this.#refused(error);
      return false;
    } finally {
      this.#syncing--;
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) {
      return;
    }
    this.#flush();
    if (this.#syncing === 0) {
      this.#rewrite(); // the next start reads only what is unfinished, not everything ever written
    }
    this.#isClosed = true;
    this.#stopTimer?.(); // a disk that refused is not asked again
    this.#file.close();
    this.#unlock();
  }

  #flushLater(ms: number): void {
    if (this.#isClosed) {
      return;
    }
    this.#stopTimer ??= this.#clock.after(ms, () => {
      this.#stopTimer = undefined;
      if (!this.#flush()) {
        this.#flushLater(retryMs);
      }
    });
  }

  /** Writes the records that are not written yet. Returns whether the disk took them. */
  #flush(): boolean {
    const { line, notes } = this.#unfinished.due;
    if (!this.#append(line, notes)) {
      return false;
    }
    this.#unfinished.flushed();
    if (this.#file.size > Math.max(large, 2 * this.#keptBytes) && this.#syncing === 0) {
      this.#rewrite();
    }
    return true;
  }

  /** Writes lines about these runs. Returns whether the disk took them. */
  #append(lines: string, runs: readonly Run[], isSynced = false): boolean {
    if (this.#isClosed) {
      return false;
    }
    const text = (this.#ownerDue ? this.#encodeOwner() : "") + lines;
    try {
      // A disk that refused has to take something: it refuses no empty text.
      this.#file.append(this.#lineEnd + (text === "" && !this.#healthy ? probe : text), isSynced);
    } catch (error) {
      this.#refused(error);
      return false;
    }
    this.#healthy ||= !isSynced; // only the sync tells whether a promise is kept
    if (this.#clock.monotonic() - this.#refusedAt >= roomMs) {
      this.#outage.succeeded();
    }
    this.#ownerDue = false;
    this.#lineEnd = "";
    this.#unfinished.written(runs);
    return true;
  }

  #rewrite(): void {
    try {
      this.#keepAside();
      this.#file.replace(this.#encodeOwner() + this.#unfinished.encode());
      this.#keptBytes = this.#file.size;
      this.#ownerDue = false;
      this.#lineEnd = "";
    } catch (error) {
      this.#refused(error);
    }
  }

  #encodeOwner(): string {
    return this.#owner === undefined ? "" : encodeHeader(this.#owner);
  }

  /** Sets bytes that are no record aside for people. */
  #keepAside(): void {
    if (this.#unusable.length === 0) {
      return;
    }
    this.#file.keepAside(this.#unusable);
    this.#logger.error(
      { records: this.#unusable.length, journal: this.#file.path },
      "damaged records of the journal were not charged and are kept aside",
    );
    this.#unusable = [];
  }

  #refused(error: unknown): void {
    this.#outage.failed(error);
    this.#refusedAt = this.#clock.monotonic();
    this.#healthy = false;
    this.#flushLater(retryMs);
  }
}
