import type { Charge } from "../model/charges/charge.ts";
import { type Run, runKey } from "../model/charges/run.ts";
import type { JournalEntry } from "./journal.ts";
import { encode, type JournalRecord } from "./journal-record.ts";

/** The unfinished requests of a journal, and which of them its file contains. */
export class Unfinished {
  readonly #notes = new Map<string, JournalEntry>();
  readonly #promises = new Map<string, Charge>();
  /** Runs whose newest note is not in the file. */
  readonly #unwritten = new Set<string>();
  /** Runs that the file has records of. */
  readonly #written = new Set<string>();
  /** Runs that the file still has records of although they are over. */
  readonly #forgotten: string[] = [];

  /** Reads the records of a file. */
  constructor(records: readonly JournalRecord[]) {
    for (const record of records) {
      if ("note" in record) {
        this.#notes.set(runKey(record.note), record.note);
      } else if ("promise" in record) {
        this.#promises.set(runKey(record.promise), record.promise);
      } else {
        this.#notes.delete(record.forget);
        this.#promises.delete(record.forget);
      }
    }
    for (const key of [...this.#notes.keys(), ...this.#promises.keys()]) {
      this.#written.add(key);
    }
  }

  /** Requests that were running, without those whose charge was promised. */
  get running(): JournalEntry[] {
    return [...this.#notes.values()].filter((entry) => !this.#promises.has(runKey(entry)));
  }

  get charges(): Charge[] {
    return [...this.#promises.values()];
  }

  note(entry: JournalEntry): void {
    const key = runKey(entry);
    this.#notes.set(key, entry);
    this.#unwritten.add(key);
  }

  promise(charges: readonly Charge[]): void {
    for (const charge of charges) {
      const key = runKey(charge);
      this.#promises.set(key, charge);
      this.#unwritten.delete(key); // the promise says more than the note
    }
  }

  /** Returns whether the file has to record it: not when the run began and ended between two flushes. */
  forget(run: Run): boolean {
    const key = runKey(run);
    this.#notes.delete(key);
    this.#promises.delete(key);
    this.#unwritten.delete(key);
    const isWritten = this.#written.delete(key);
    if (isWritten) {
      this.#forgotten.push(key);
    }
    return isWritten;
  }

  /** The line that the file still lacks, and the notes in it. */
  get due(): { readonly line: string; readonly notes: readonly JournalEntry[] } {
    const notes = [...this.#unwritten].flatMap((key) => this.#notes.get(key) ?? []);
    const forgotten = this.#forgotten.map((forget) => ({ forget }));
    return { line: encode([...notes.map((note) => ({ note })), ...forgotten]), notes };
  }

  /** Call this when the file lacks nothing any more. */
  flushed(): void {
    this.#unwritten.clear();
    this.#forgotten.length = 0;
  }

  /** Call this when the file has records of these runs. */
  written(runs: readonly Run[]): void {
    for (const run of runs) {
      this.#written.add(runKey(run));
    }
  }

  /** The complete content of a new file. */
  encode(): string {
    const notes = [...this.#notes.values()].filter((note) => this.#written.has(runKey(note)));
    return encode(notes.map((note) => ({ note }))) + encodePromises(this.charges);
  }

  /** Removes everything. Returns a line for each record. */
  takeAll(): string[] {
    const lines = [
      ...[...this.#notes.values()].map((note) => encode([{ note }])),
      ...this.charges.map((promise) => encode([{ promise }])),
    ];
    this.#notes.clear();
    this.#promises.clear();
    this.#written.clear();
    return lines;
  }
}

/** A line for each promise, so that a damaged line loses only one. */
export function encodePromises(promises: readonly Charge[]): string {
  return promises.map((promise) => encode([{ promise }])).join("");
}
