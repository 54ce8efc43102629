/** The most calls of a connection that may be refused in a row while no admitted call runs over it. */
const mostRefusals = 100;

/** The most refusals of a connection that may wait for their turn while no admitted call runs over it. */
const mostWaiting = 8;

/**
 * What became of a connection's calls. Cuts a connection over which only wrong credentials come, even when its client
 * resets each call at once, which would cost this process more than the client. A facade also sends right credentials,
 * or opens another connection.
 */
export class Standing {
  readonly #cut: () => void;
  #refused = 0;
  #running = 0;
  #waiting = 0;
  #isKnown = false;

  constructor(cut: () => void) {
    this.#cut = cut;
  }

  /** Whether a call was ever admitted. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** A call was admitted. */
  admitted(): void {
    this.#isKnown = true;
    this.#refused = 0;
    this.#running++;
  }

  /** An admitted call is over. */
  left(): void {
    this.#running--;
  }

  refused(): void {
    this.#refused++;
    this.#judge();
  }

  /** A refusal waits for its turn. */
  waits(): void {
    this.#waiting++;
    this.#judge();
  }

  /** A refusal waits no more. */
  waited(): void {
    this.#waiting--;
  }

  #judge(): void {
    if (this.#running === 0 && (this.#refused > mostRefusals || this.#waiting > mostWaiting)) {
      this.#cut();
    }
  }
}
