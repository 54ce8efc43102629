import { encodeFrames, type Frame } from "./frames.ts";
import { batchBytes } from "./limits.ts";

/** Gathers the frames of one event-loop turn and sends them as one message. */
export class Outbox {
  readonly #send: (batch: Buffer) => void;
  #frames: Frame[] = [];
  #bytes = 0;
  #isScheduled = false;

  constructor(send: (batch: Buffer) => void) {
    this.#send = send;
  }

  /**
   * Takes frames. They are sent when all of the turn's I/O has been handled. Frames of one call of `add` go into one
   * batch, so that a call's beginning is never separated from its message.
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

  /** Sends the gathered frames. */
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
