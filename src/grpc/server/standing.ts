import { createContextKey } from "@connectrpc/connect";

/** Calls of a connection that may be refused one after the other while none that was let in runs over it. */
const mostRefusals = 100;

/**
 * What became of the calls that came over a connection. Cuts one over which nothing but wrong credentials comes, also when
 * its client resets each call at once: that costs this process more than its client. A facade has right ones among them,
 * or opens another connection.
 */
export class Standing {
  readonly #cut: () => void;
  #refused = 0;
  #running = 0;

  constructor(cut: () => void) {
    this.#cut = cut;
  }

  /** A call was let in. */
  admitted(): void {
    this.#refused = 0;
    this.#running++;
  }

  /** A call that was let in is over. */
  left(): void {
    this.#running--;
  }

  refused(): void {
    this.#refused++;
    if (this.#refused > mostRefusals && this.#running === 0) {
      this.#cut();
    }
  }
}

/** The standing of the connection that a stream of carried calls came over. */
export const standingKey = createContextKey<Standing>(new Standing(() => {}), { description: "standing" });
