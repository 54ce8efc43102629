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

  /** Takes a frame, which leaves when all that has come from the system in this turn has been dealt with. */
  add(frame: Frame): void {
    this.#frames.push(frame);
    this.#bytes += frame.bytes.length;
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
