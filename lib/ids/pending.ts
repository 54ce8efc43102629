import type { Clock } from "../time/clock.ts";
import type { Seal } from "./sealed.ts";

/** How long what was begun can be finished, in milliseconds. */
export const pendingMs = 600_000;

/** What was begun, as a browser brings it back. */
export interface Pending<Facts> {
  readonly facts: Facts;
  /** When it is too old. */
  readonly until: number;
}

/** Seals what a browser brings back to finish what it began: every core can read it, nobody else can make it. No core keeps it. */
export class PendingSeal<Facts extends object> {
  readonly #kind: string;
  readonly #seal: Seal;
  readonly #clock: Pick<Clock, "now">;

  /** `kind`: of what is begun, so that one thing is not taken for another. */
  constructor(kind: string, seal: Seal, clock: Pick<Clock, "now">) {
    this.#kind = kind;
    this.#seal = seal;
    this.#clock = clock;
  }

  close(facts: Facts): string {
    const text = JSON.stringify({ kind: this.#kind, facts, until: this.#clock.now() + pendingMs });
    return Buffer.from(this.#seal.close(text)).toString("base64url");
  }

  /** Undefined: no core of this service sealed it for this, or it is too old. */
  open(pending: string): Pending<Facts> | undefined {
    try {
      const { kind, facts, until } = JSON.parse(this.#seal.open(Buffer.from(pending, "base64url").toString()));
      return kind === this.#kind && until > this.#clock.now() ? { facts, until } : undefined;
    } catch {
      return undefined;
    }
  }
}
