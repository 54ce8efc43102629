import { join } from "node:path";
import type { Random } from "../../../lib/ids/random.ts";
import type { Logger } from "../../../lib/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { firstRun, type Run, runKey } from "../ledger/run.ts";
import type { Charge } from "../store/ledger-store.ts";
import { readCoreId } from "./core-id.ts";
import { type Disk, systemDisk } from "./disk.ts";
import { withDiskAdvice } from "./disk-faults.ts";
import type { Journal, JournalEntry, JournalOwner, JournalRemains } from "./journal.ts";
import { DiskFile, type JournalFile } from "./journal-file.ts";
import { decode, encode, encodeHeader, type JournalContent } from "./journal-record.ts";

/** How long a note may wait before it is written: a killed process loses no more than this. */
const flushMs = 50;
/** How long to wait before a disk that refused is tried again. */
const retryMs = 1000;
/** A file this large is rewritten with what still counts. */
const large = 16 * 1024 * 1024;

/** A journal with the name of the core whose it is. */
export interface CoreJournal extends Journal {
  readonly coreId: string;
}

/** Cores that may run on one data directory at once. */
const mostCores = 1000;

/** Dependencies. */
export interface OpenJournalParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Absent: the machine's own. */
  readonly disk?: Disk;
}

/**
 * Opens the journal of a core: the first in the directory that no running process has. So a core that
 * starts after another one died takes that one's place, name and unfinished business.
 */
export function openJournal(directory: string, parts: OpenJournalParts): CoreJournal {
  const { disk = systemDisk } = parts;
  for (let place = 1; place <= mostCores; place++) {
    const own = join(directory, String(place));
    const path = join(own, "journal");
    const unlock = withDiskAdvice(path, () => {
      disk.mkdirSync(own, { recursive: true, mode: 0o700 });
      return disk.lockFile(path);
    });
    if (unlock === undefined) {
      continue;
    }
    try {
      const file = withDiskAdvice(path, () => new DiskFile(path, disk));
      const content = decode(withDiskAdvice(path, () => file.read()));
      if (content.newer) {
        throw new Error(
          `the journal ${path} was written by a newer tollgate: start that version, whose unfinished requests it has, and end it with SIGTERM before going back`,
        );
      }
      const coreId = readCoreId(join(own, "core-id"), content, { ...parts, disk });
      return new FileJournal(file, { ...parts, coreId, content, unlock, instance: disk.lockInstance(path) });
    } catch (error) {
      unlock();
      throw error;
    }
  }
  throw new Error(`${directory} is in use by ${mostCores} cores`);
}

/** A journal in a file. */
export class FileJournal implements CoreJournal {
  readonly coreId: string;
  readonly instance: string | undefined;
  readonly lasting = true;
  readonly #file: JournalFile;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #unlock: () => void;
  readonly #notes = new Map<string, JournalEntry>();
  readonly #promises = new Map<string, Charge>();
  /** Runs whose newest note is not in the file. */
  readonly #unwritten = new Set<string>();
  /** Runs that the file speaks of. */
  readonly #written = new Set<string>();
  readonly #forgotten: string[] = [];
  #owner: JournalOwner | undefined;
  /** Whether the file does not say yet whose it is. */
  #ownerDue = false;
  /** Lines of the file that are no records and are not kept aside yet: until they are, the file is not replaced. */
  #unusable: readonly Uint8Array[];
  /** Ends a line of the file that was not written to its end. */
  #lineEnd: string;
  #healthy = true;
  #syncing = 0;
  #stopTimer: (() => void) | undefined;

  constructor(
    file: JournalFile,
    parts: {
      clock: Clock;
      logger: Logger;
      coreId: string;
      /** What the file says. */
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
    this.#unlock = parts.unlock;
    this.#owner = parts.content.owner;
    this.#unusable = parts.content.unusable;
    this.#lineEnd = parts.content.torn ? "\n" : "";
    for (const record of parts.content.records) {
      if ("note" in record) {
        this.#notes.set(runKey(record.note), record.note);
      } else if ("promise" in record) {
        this.#promises.set(runKey(record.promise), record.promise);
      } else {
        this.#notes.delete(record.forget);
        this.#promises.delete(record.forget);
      }
    }
    if (isNobodys(parts.content)) {
      this.#setAsideAll();
    }
    for (const key of [...this.#notes.keys(), ...this.#promises.keys()]) {
      this.#written.add(key);
    }
    this.#rewrite();
  }

  /** Keeps what is unfinished for people to look at: charged in the wrong database it would be somebody else's money. */
  #setAsideAll(): void {
    const lines = [
      ...[...this.#notes.values()].map((note) => encode([{ note }])),
      ...[...this.#promises.values()].map((promise) => encode([{ promise }])),
    ];
    this.#unusable = [...this.#unusable, ...lines.map((line) => Buffer.from(line.trimEnd()))];
    this.#notes.clear();
    this.#promises.clear();
    this.#logger.error(
      { requests: lines.length, journal: this.#file.path },
      "the line that says whose the journal is is damaged: its unfinished requests are kept aside and not charged",
    );
    // Not later: once the file says whose it is, they would be charged at the next start.
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
    const running = [...this.#notes.values()].filter((entry) => !this.#promises.has(runKey(entry)));
    const charges = [...this.#promises.values()];
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
    const key = runKey(entry);
    this.#notes.set(key, entry);
    this.#unwritten.add(key);
    this.#flushLater(flushMs);
  }

  forget(run: Run): void {
    const key = runKey(run);
    this.#notes.delete(key);
    this.#promises.delete(key);
    this.#unwritten.delete(key);
    if (!this.#written.delete(key)) {
      return; // it came and went between two flushes
    }
    this.#forgotten.push(key);
    this.#flushLater(flushMs);
  }

  async promise(charges: readonly Charge[]): Promise<boolean> {
    if (!this.#append(encodeEach(charges), charges)) {
      return false;
    }
    for (const charge of charges) {
      const key = runKey(charge);
      this.#promises.set(key, charge);
      this.#unwritten.delete(key); // the promise says more than the note
    }
    this.#syncing++;
    try {
      await this.#file.sync();
      return true;
    } catch (error) {
      this.#refused(error);
      return false;
    } finally {
      this.#syncing--;
    }
  }

  async close(): Promise<void> {
    this.#stopTimer?.();
    this.#flush();
    if (this.#syncing === 0) {
      this.#rewrite(); // the next start reads what is unfinished, not all that ever was
    }
    this.#file.close();
    this.#unlock();
  }

  #flushLater(ms: number): void {
    this.#stopTimer ??= this.#clock.after(ms, () => {
      this.#stopTimer = undefined;
      if (!this.#flush()) {
        this.#flushLater(retryMs);
      }
    });
  }

  /** Writes what is not written yet. Returns whether the disk took it. */
  #flush(): boolean {
    const noted = [...this.#unwritten].flatMap((key) => this.#notes.get(key) ?? []);
    const forgotten = this.#forgotten.map((forget) => ({ forget }));
    if (!this.#append(encode([...noted.map((note) => ({ note })), ...forgotten]), noted)) {
      return false;
    }
    this.#unwritten.clear();
    this.#forgotten.length = 0;
    if (this.#file.size > large && this.#syncing === 0) {
      this.#rewrite();
    }
    return true;
  }

  /** Writes lines that speak of those runs. Returns whether the disk took them. */
  #append(lines: string, runs: readonly Run[]): boolean {
    const header = this.#ownerDue ? this.#encodeOwner() : "";
    try {
      this.#file.append(this.#lineEnd + header + lines);
    } catch (error) {
      this.#refused(error);
      return false;
    }
    this.#healthy = true;
    this.#ownerDue = false;
    this.#lineEnd = "";
    for (const run of runs) {
      this.#written.add(runKey(run));
    }
    return true;
  }

  #rewrite(): void {
    const notes = [...this.#notes.values()].filter((note) => this.#written.has(runKey(note)));
    const promises = [...this.#promises.values()];
    try {
      this.#keepAside();
      this.#file.replace(this.#encodeOwner() + encode(notes.map((note) => ({ note }))) + encodeEach(promises));
      this.#ownerDue = false;
      this.#lineEnd = "";
    } catch (error) {
      this.#refused(error);
    }
  }

  #encodeOwner(): string {
    return this.#owner === undefined ? "" : encodeHeader(this.#owner);
  }

  /** Keeps what is no record for people to look at. */
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
    if (this.#healthy) {
      this.#logger.error({ error }, "the journal cannot be written; no new requests until it can");
    }
    this.#healthy = false;
    this.#flushLater(retryMs);
  }
}

/**
 * Whether nobody can tell in which database its unfinished requests were run, as the damaged first line said it. A journal
 * of before runs had ids never did.
 */
function isNobodys({ owner, headDamaged, records }: JournalContent): boolean {
  const runs = records.map((record) =>
    "note" in record ? record.note : "promise" in record ? record.promise : undefined,
  );
  return owner === undefined && headDamaged && runs.some((run) => run !== undefined && run.runId !== firstRun);
}

/** A line for each promise, so that none is lost because of another. */
function encodeEach(promises: readonly Charge[]): string {
  return promises.map((promise) => encode([{ promise }])).join("");
}

/** The error about a journal whose unfinished business is not of this database or this core. */
function foreign(
  path: string,
  owner: JournalOwner,
  own: Pick<JournalOwner, "databaseId" | "coreId">,
  unfinished: number,
): Error {
  return new Error(
    `the journal ${path} belongs to core ${owner.coreId} on database ${owner.databaseId}, and this is core ${own.coreId} on database ${own.databaseId}: start it where its ${unfinished} unfinished requests were run, or move it away to never charge them`,
  );
}
