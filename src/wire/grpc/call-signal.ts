import { Code, ConnectError } from "@connectrpc/connect";

/**
 * The signal's reason for calls that ended normally. All calls share one object, because creating an error captures a
 * stack. It is created on first use, because an error has Headers, and the first Headers object loads fetch, an eighth
 * of what a command line's call costs.
 */
let completed: ConnectError | undefined;

/** The life of one call as an AbortSignal. */
export interface CallSignal {
  /**
   * Aborts when the caller gives up, when the deadline passes, and when the call is over. Created on first use: with
   * its controller and the final event, it costs more than the rest of a call's life.
   */
  readonly signal: AbortSignal;
  /** The reason with which the call ended. Undefined: it has not ended. */
  readonly reason: ConnectError | undefined;
  /**
   * Calls `listener` when the call is over, or at once if it is. Keeps the last listener only. Cheaper than the signal.
   */
  onEnd(listener: () => void): void;
  /** Ends the call with the error for its participants. Only the first end counts. */
  abort(reason: ConnectError): void;
  /** Ends the call normally. Only the first end counts. */
  complete(): void;
}

/** Starts a call's life, bounded by the caller's signal and by a time limit in milliseconds. */
export function createCallSignal(caller: AbortSignal | undefined, timeoutMs: number | undefined): CallSignal {
  return new CallLife(caller, timeoutMs);
}

class CallLife implements CallSignal {
  #reason: ConnectError | undefined;
  #isCompleted = false;
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #controller: AbortController | undefined;
  #listener: (() => void) | undefined;

  constructor(caller: AbortSignal | undefined, timeoutMs: number | undefined) {
    this.#caller = caller;
    this.#timer = setTimer(timeoutMs, () => this.abort(deadlineExceeded()));
    if (caller?.aborted) {
      this.#giveUp();
    } else {
      caller?.addEventListener("abort", this.#giveUp);
    }
  }

  get reason(): ConnectError | undefined {
    if (this.#isCompleted) {
      completed ??= new ConnectError("the call is over", Code.Canceled);
      return completed;
    }
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isOver) {
        this.#controller.abort(this.reason);
      }
    }
    return this.#controller.signal;
  }

  onEnd(listener: () => void): void {
    if (this.#isOver) {
      listener();
    } else {
      this.#listener = listener;
    }
  }

  abort(reason: ConnectError): void {
    if (!this.#isOver) {
      this.#reason = reason;
      this.#end();
    }
  }

  complete(): void {
    if (!this.#isOver) {
      this.#isCompleted = true;
      this.#end();
    }
  }

  /** The caller gave up. An object that listens would cost more: Node.js makes an async function for each. */
  readonly #giveUp = (): void => this.abort(ConnectError.from(this.#caller?.reason, Code.Canceled));

  get #isOver(): boolean {
    return this.#isCompleted || this.#reason !== undefined;
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#giveUp);
    this.#controller?.abort(this.reason); // first, so that a handler that is stopped knows why
    this.#listener?.();
  }
}

/** The longest time of a timer, in milliseconds. A longer deadline is ignored. */
export const longestTimerMs = 2 ** 31 - 1;

function setTimer(ms: number | undefined, callback: () => void): NodeJS.Timeout | undefined {
  return ms === undefined || ms > longestTimerMs ? undefined : setTimeout(callback, ms);
}

/** The error for both ends of a call whose deadline passes. */
export function deadlineExceeded(): ConnectError {
  return new ConnectError("the operation timed out", Code.DeadlineExceeded);
}
