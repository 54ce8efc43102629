import { ChurningMap } from "#lib/workarounds/churning-map.ts";
import type { Charge } from "../model/charges/charge.ts";
import type { Run } from "../model/charges/run.ts";
import type { JournalEntry } from "./journal.ts";
import { encode, type JournalRecord } from "./journal-record.ts";

/** What a journal knows of a run. */
interface Known {
  note: JournalEntry | undefined;
  promise: Charge | undefined;
  /** True while its newest note is not in the file. */
  isDue: boolean;
  /** Whether the file has records of it. */
  isWritten: boolean;
}

/** The unfinished requests of a journal, and which of them its file contains. */
export class Unfinished {
  /** By run id. */
  readonly #known = new ChurningMap<Known>();
  /** Runs whose newest note may not be in the file. */
  #due: Known[] = [];
  /** Runs that the file still has records of although they are over. */
  #forgotten: string[] = [];

  /** Reads the records of a file. */
  constructor(records: readonly JournalRecord[]) {
    for (const record of records) {
      if ("note" in record) {
        this.#of(record.note.runId).note = record.note;
      } else if ("promise" in record) {
        this.#of(record.promise.runId).promise = record.promise;
      } else {
        this.#known.delete(record.forget);
      }
    }
    for (const known of this.#known.values()) {
      known.isWritten = true;
    }
  }

  /** Requests that were running, without those whose charge was promised. */
  get running(): JournalEntry[] {
    return this.#known.values().flatMap(({ note, promise }) => (promise === undefined ? (note ?? []) : []));
  }

  get charges(): Charge[] {
    return this.#known.values().flatMap(({ promise }) => promise ?? []);
  }

  note(entry: JournalEntry): void {
    const known = this.#of(entry.runId);
    known.note = entry;
    if (!known.isDue) {
      known.isDue = true;
      this.#due.push(known);
    }
  }

  promise(charges: readonly Charge[]): void {
    for (const charge of charges) {
      const known = this.#of(charge.runId);
      known.promise = charge;
      known.note = undefined; // the promise says more
      known.isDue = false;
    }
  }

  /** Returns whether the file has to record it: not when the run began and ended between two flushes. */
  forget({ runId }: Run): boolean {
    const known = this.#known.get(runId);
    if (known === undefined) {
      return false;
    }
    this.#known.delete(runId);
    known.isDue = false;
    if (known.isWritten) {
      this.#forgotten.push(runId);
    }
    return known.isWritten;
  }

  /** The line that the file still lacks, and the notes in it. */
  get due(): { readonly line: string; readonly notes: readonly JournalEntry[] } {
    const notes = this.#due.flatMap(({ note, isDue }) => (isDue ? (note ?? []) : []));
    const forgotten = this.#forgotten.map((forget) => ({ forget }));
    return { line: encode([...notes.map((note) => ({ note })), ...forgotten]), notes };
  }

  /** Call this when the file lacks nothing any more. */
  flushed(): void {
    for (const known of this.#due) {
      known.isDue = false;
    }
    this.#due = [];
    this.#forgotten = [];
  }

  /** Call this when the file has records of these runs. */
  written(runs: readonly Run[]): void {
    for (const { runId } of runs) {
      this.#of(runId).isWritten = true;
    }
  }

  /** The complete content of a new file. */
  encode(): string {
    const notes = this.#known.values().flatMap(({ note, isWritten }) => (isWritten ? (note ?? []) : []));
    return encode(notes.map((note) => ({ note }))) + encodePromises(this.charges);
  }

  /** Removes everything. Returns a line for each record. */
  takeAll(): string[] {
    const all = this.#known.values();
    this.#known.clear();
    return [
      ...all.flatMap(({ note }) => (note === undefined ? [] : encode([{ note }]))),
      ...all.flatMap(({ promise }) => (promise === undefined ? [] : encode([{ promise }]))),
    ];
  }

  #of(runId: string): Known {
    const known = this.#known.get(runId);
    if (known !== undefined) {
      return known;
    }
    const made: Known = { note: undefined, promise: undefined, isDue: false, isWritten: false };
    this.#known.set(runId, made);
    return made;
  }
}

/** A line for each promise, so that a damaged line loses only one. */
export function encodePromises(promises: readonly Charge[]): string {
  return promises.map((promise) => encode([{ promise }])).join("");
}
