import type { Clock } from "#lib/time/clock.ts";

/** Where the lines of a log go, which gathers them until it has many or is told to write them. */
export interface LineOutput {
  write(line: string): unknown;
  /** Writes the lines that were gathered. */
  flush(): void;
}

/**
 * Has lines written at most so many milliseconds after the first of them came. A process that logs nothing does nothing
 * for its log.
 */
export class GatheredLines {
  readonly #output: LineOutput;
  readonly #clock: Pick<Clock, "after">;
  readonly #ms: number;
  #isAwaited = false;

  constructor(output: LineOutput, ms: number, clock: Pick<Clock, "after">) {
    this.#output = output;
    this.#ms = ms;
    this.#clock = clock;
  }

  write(line: string): void {
    this.#output.write(line);
    if (!this.#isAwaited) {
      this.#isAwaited = true;
      this.#clock.after(this.#ms, this.#flush);
    }
  }

  readonly #flush = (): void => {
    this.#isAwaited = false;
    this.#output.flush();
  };
}
