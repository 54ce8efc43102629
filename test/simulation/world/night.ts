import { createHash } from "node:crypto";
import type { ArchivePlace, NewFile } from "#src/money/retention/place.ts";
import type { Machine } from "../cores/machine.ts";
import type { Run } from "../cores/run.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Timeline } from "./timeline.ts";

const dayMs = 86_400_000;
/** The moments of a day's leaving: it is about to be sealed, its seal is made, or its archive is complete. */
export type Leaving = "due" | "sealed" | "archived";

/** Troubles while a day leaves: a day that never leaves has no archive that may be harmed. */
const mostTroubles = 2;

/** Milliseconds that a page of an archive takes to reach the disk. */
const writeMs = 1;
/** Milliseconds after which everything that dead processes sent to the database has arrived. */
const underWayMs = 15_000;

/**
 * The night after which a day's receipts leave the books, and the archive folder, which all cores reach. In such a
 * world half a year takes a minute: no process that was alive all the time still has anything of the day before.
 */
export class Night {
  /** The compressed archives, by name. */
  readonly files = new Map<string, Buffer>();
  readonly #timeline: Timeline;
  readonly #machines: readonly Machine[];
  readonly #midnight: number;
  runs: readonly Run[] = [];
  /** What became of archives whose files were harmed, by name. Undefined: the file is gone. */
  readonly harmed = new Map<string, Buffer | undefined>();
  /** What strikes once a day reaches a moment of its leaving. */
  readonly #troubles = new Map<Leaving, (process: SimulatedProcess) => void>();
  #troubled = 0;

  constructor(parts: { timeline: Timeline; machines: readonly Machine[] }) {
    this.#timeline = parts.timeline;
    this.#machines = parts.machines;
    this.#midnight = Math.ceil(this.#timeline.beginning / dayMs) * dayMs - this.#timeline.beginning;
  }

  /** Whether half a year may have passed: all of the day before is settled, except dead processes' journals. */
  get isOver(): boolean {
    const { now } = this.#timeline;
    return (
      now > this.#midnight + underWayMs &&
      this.#machines.every(
        ({ process, life, network }) =>
          network.underWay === 0 && (!process?.alive || life?.money.ledger.state().backlog === 0),
      ) &&
      !this.runs.some(
        ({ askedAt, process: { alive, diedAt = 0 }, state }) =>
          askedAt <= this.#midnight && (alive ? isOpen(state) : now - diedAt < underWayMs),
      )
    );
  }

  /** The archives as they lie on the disk. */
  get onDisk(): ReadonlyMap<string, Buffer> {
    const all = [...this.files].map(([name, content]) => [
      name,
      this.harmed.has(name) ? this.harmed.get(name) : content,
    ]);
    return new Map(all.filter((one): one is [string, Buffer] => one[1] !== undefined));
  }

  /** Whether one more trouble may wait for a day to leave: one at a time, so that each is lived to its end. */
  get mayTrouble(): boolean {
    return this.#troubles.size === 0 && this.#troubled < mostTroubles;
  }

  /** Lets something strike the process that takes the next day out of the books, once, at a moment of it. */
  strikeAt(moment: Leaving, strike: (process: SimulatedProcess) => void): void {
    this.#troubles.set(moment, (process) => {
      this.#troubled += moment === "due" ? 0 : 1; // nothing is felt yet
      strike(process);
    });
  }

  /** A process has come to a moment of a day's leaving. */
  reaches(moment: Leaving, process: SimulatedProcess): void {
    const strike = this.#troubles.get(moment);
    this.#troubles.delete(moment);
    strike?.(process);
  }

  /** The folder as a process sees it. A file appears under its name once it is complete. */
  folderOf(process: SimulatedProcess): ArchivePlace {
    const find = (name: string) => this.onDisk.get(name);
    return {
      create: this.#creating(process),
      identify: async (name) => find(name) && "there",
      async *stream(name) {
        yield find(name) ?? Buffer.alloc(0);
      },
      open: () => Promise.reject(new Error("no core reads an old receipt")),
    };
  }

  #creating(process: SimulatedProcess): (name: string) => Promise<NewFile> {
    return async (name) => {
      this.reaches("sealed", process);
      const parts: Buffer[] = [];
      const pause = () => new Promise<void>((resolve) => process.after(writeMs, resolve));
      return {
        write: async (part) => {
          parts.push(part);
          await pause();
        },
        finish: async () => {
          await pause();
          const content = Buffer.concat(parts);
          if (process.act()) {
            this.files.set(name, content);
            this.harmed.delete(name);
            this.reaches("archived", process);
          }
          return { bytes: content.length, sha256: toDigest(content) };
        },
        abandon: async () => {},
      };
    };
  }
}

export const toDigest = (content: Buffer): string => createHash("sha256").update(content).digest("hex");

const isOpen = (state: Run["state"]) => state === "asked" || state === "held" || state === "settling";
