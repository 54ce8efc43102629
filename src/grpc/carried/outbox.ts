import { encodeFrames, type Frame } from "./frames.ts";
import { batchBytes } from "./limits.ts";

/** Gathers the frames of a turn of the event loop, and sends them as one message. */
export class Outbox {
  readonly #send: (batch: Buffer) => void;
  #frames: Frame[] = [];
  #bytes = 0;
  #isScheduled = false;

  constructor(send: (batch: Buffer) => void) {
    this.#send = send;
  }

  /**
   * Takes frames, which leave when all that has come from the system in this turn has been dealt with. Those that are given at
   * once leave in one batch: a call's beginning is never apart from its message.
   */
  add(...frames: Frame[]): void {
    for (const frame of frames) {
      this.#frames.push(frame);
      this.#bytes += frame.bytes.length;
    }
    if (this.#bytes > batchBytes) {
      this.flush();
    } else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(this.#onTurn);
    }
  }

  /** Sends what has been gathered. */
  flush(): void {
    if (this.#frames.length === 0) {
      return;
    }
    const batch = encodeFrames(this.#frames);
    this.#frames = [];
    this.#bytes = 0;
    this.#send(batch);
  }

  readonly #onTurn = (): void => {
    this.#isScheduled = false;
    this.flush();
  };
}
