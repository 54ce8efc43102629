import { inspect } from "node:util";
import type { Logger } from "#lib/logger.ts";
import type { MeteringObserver } from "#src/money/model/observer.ts";
import type { Judge } from "../judges/names.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Timeline } from "./timeline.ts";

/** SQLite's code for SQL that it does not understand. */
const badSql = 1;
const advice = " (test/simulation/database/storage.ts translates PostgreSQL's own syntax for SQLite)";

/** The cause of an error that is SQL which SQLite does not understand. Undefined: it has another one. */
export function findUnknown(error: unknown): Error | undefined {
  if (!(error instanceof Error)) {
    return undefined;
  }
  return "errcode" in error && error.errcode === badSql ? error : findUnknown(error.cause);
}

/** The events of a world, for people who replay it and for the figures of a run. */
export class History {
  readonly #timeline: Timeline;
  readonly #tell: ((line: string) => void) | undefined;
  /** The broken rules, in words. */
  readonly violations: string[] = [];
  faults = 0;
  /** Until when a core's finding may be a known loss that is still being cleared up. */
  #unsettledUntil = 0;
  #lastFault = 0;
  #digest = 0;

  /** `tell` gets each line. Absent: nothing is written. */
  constructor(timeline: Timeline, tell?: (line: string) => void) {
    this.#timeline = timeline;
    this.#tell = tell;
  }

  /** A number that changes when anything noted changes. */
  get digest(): string {
    return (this.#digest >>> 0).toString(16).padStart(8, "0");
  }

  note(what: string): void {
    for (let at = 0; at < what.length; at++) {
      this.#digest = Math.imul(this.#digest ^ what.charCodeAt(at), 0x01000193);
    }
    this.#digest = Math.imul(this.#digest ^ Math.floor(this.#timeline.now * 1000), 0x01000193);
    this.#tell?.(`${(this.#timeline.now / 1000).toFixed(3).padStart(10)} ${what}`);
  }

  fault(what: string): void {
    this.faults++;
    this.#lastFault = this.#timeline.now;
    this.note(`FAULT ${what}`);
  }

  /** Something was lost that cores need two audits to find. */
  unsettle(): void {
    this.#unsettledUntil = this.#timeline.now + 150_000;
  }

  /** `judge` is the broken rule. Worlds of payments have one of their own. */
  violation(judge: Judge | "payments", what: string): void {
    this.violations.push(`${judge}: at ${(this.#timeline.now / 1000).toFixed(3)} s: ${what}`);
    this.note(`VIOLATION ${judge}: ${what}`);
  }

  /**
   * The log of a core. Nobody hears a dead process. A failure of what the simulation cannot do would otherwise be one of many
   * in a world, and the work that met it, as the proof of the books, would never be done.
   */
  logger(name: string, process: SimulatedProcess): Logger {
    const tell = this.#tell;
    const log = (level: string) => (fields: object, message: string) => {
      const cause = "error" in fields && process.alive ? findUnknown(fields.error) : undefined;
      if (cause !== undefined) {
        this.violation("proofs", `${name} ${message}, because the simulation cannot run it: ${cause.message}${advice}`);
      }
      if (tell !== undefined && process.alive) {
        this.#tell?.(
          `           ${name} ${level}: ${message} ${inspect(fields, { breakLength: Number.POSITIVE_INFINITY, depth: 3 }).slice(0, 600)}`,
        );
      }
    };
    return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  }

  observer(name: string): Partial<MeteringObserver> {
    return {
      broken: () => this.violation("integrity", `${name}: an account's money moved as it never may`),
      reconciled: ({ ok }) => {
        if (!ok && this.#timeline.now > this.#unsettledUntil && this.#timeline.now - this.#lastFault > 30_000) {
          this.violation("proofs", `${name}: the books do not add up`);
        }
      },
    };
  }
}
