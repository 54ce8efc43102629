import type { Clock } from "#lib/time/clock.ts";

/** Where the lines of a log go. */
export interface LineOutput {
  /** Takes some lines. */
  write(lines: string): unknown;
  /** Writes what it was given. */
  flush(): void;
}

/** How long lines are gathered, in milliseconds, and how many characters of them at most. */
export interface Gathering {
  readonly ms: number;
  readonly length: number;
}

/**
 * Hands lines on together. A process that logs nothing does nothing for its log, and no line is copied because another
 * one comes: the output measures all that it has with each piece that it is given.
 */
export class GatheredLines {
  readonly #output: LineOutput;
  readonly #gathering: Gathering;
  readonly #clock: Pick<Clock, "after">;
  #lines = "";
  #isAwaited = false;

  constructor(output: LineOutput, gathering: Gathering, clock: Pick<Clock, "after">) {
    this.#output = output;
    this.#gathering = gathering;
    this.#clock = clock;
  }

  write(line: string): void {
    this.#lines += line;
    if (this.#lines.length >= this.#gathering.length) {
      this.handOver();
    } else if (!this.#isAwaited) {
      this.#isAwaited = true;
      this.#clock.after(this.#gathering.ms, this.#flush);
    }
  }

  /** Gives the output what was gathered. */
  handOver(): void {
    const lines = this.#lines;
    if (lines !== "") {
      this.#lines = "";
      this.#output.write(lines);
    }
  }

  readonly #flush = (): void => {
    this.#isAwaited = false;
    this.handOver();
    this.#output.flush();
  };
}
