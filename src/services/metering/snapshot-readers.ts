import { Code, ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Clock } from "#lib/time/clock.ts";

/** Milliseconds for which a reader may leave a piece of its answer unread. */
const unreadMs = 5000;
/** The calls of an account that may wait for their turn. */
const mostWaiting = 16;

/**
 * Streams answers from snapshots of the database, of which there are few. An account reads one at a time, and one that
 * is left unread is closed, so that nobody keeps others from theirs.
 */
export class SnapshotReaders {
  readonly #clock: Pick<Clock, "after">;
  readonly #mayRest: boolean;
  /** Who waits behind the one that reads, by account. */
  readonly #queues = new Map<string, (() => void)[]>();

  /** `mayRest`: the answers have no snapshot between their pieces, so that they may be left unread. */
  constructor(clock: Pick<Clock, "after">, { mayRest = false } = {}) {
    this.#clock = clock;
    this.#mayRest = mayRest;
  }

  /** Passes an answer on. `account` undefined: an operator reads, and waits for nobody. */
  async *read<T>(account: string | undefined, signal: AbortSignal, open: () => AsyncGenerator<T>): AsyncGenerator<T> {
    const leave = account === undefined ? () => {} : await this.#enter(account, signal);
    const source = open();
    const close = () => source.return(undefined).finally(leave);
    try {
      yield* this.#mayRest ? source : this.#inTime(source, close);
    } finally {
      await close();
    }
  }

  async *#inTime<T>(source: AsyncGenerator<T>, close: () => Promise<unknown>): AsyncGenerator<T> {
    let isLate = false;
    for await (const piece of source) {
      const stop = this.#clock.after(unreadMs, () => {
        isLate = true;
        close().catch(() => {});
      });
      try {
        yield piece;
      } finally {
        stop();
      }
      if (isLate) {
        throw failure(Reason.TIMEOUT, `The answer was left unread for ${unreadMs / 1000} seconds.`);
      }
    }
  }

  /** Waits for an account's turn. Resolves with the function that ends it. Throws RATE_LIMITED. */
  async #enter(account: string, signal: AbortSignal): Promise<() => void> {
    const queue = this.#queues.get(account);
    if (queue === undefined) {
      this.#queues.set(account, []);
    } else if (queue.length >= mostWaiting) {
      throw failure(Reason.RATE_LIMITED, "Too many reports of this account are read.", { retryAfter: { seconds: 5n } });
    } else {
      await new Promise<void>((resolve, reject) => {
        const enter = () => {
          signal.removeEventListener("abort", give);
          resolve();
        };
        const give = () => {
          queue.splice(queue.indexOf(enter), 1);
          reject(new ConnectError("The call was canceled.", Code.Canceled));
        };
        queue.push(enter);
        signal.addEventListener("abort", give, { once: true });
      });
    }
    let isOver = false;
    return () => {
      if (!isOver) {
        isOver = true;
        this.#leave(account);
      }
    };
  }

  #leave(account: string): void {
    const next = this.#queues.get(account)?.shift();
    if (next === undefined) {
      this.#queues.delete(account);
    } else {
      next();
    }
  }
}
