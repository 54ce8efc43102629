import type { Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import type { Clock } from "#lib/time/clock.ts";
import { isRead, toOwner } from "../access/call-rates.ts";
import { principalKey } from "../access/principal.ts";

/** The reads of one owner that run at a time. */
const mostAtOnce = 2;
/** Milliseconds after which a read waits for the database rather than taking turns: the next one begins beside it. */
const longMs = 100;

interface Line {
  running: number;
  /** What lets those who wait begin, in the order in which they came. */
  readonly waiting: Set<() => void>;
}

/**
 * Runs the reads of an account, or of a person who has none, two at a time, and the others after them in the order in which
 * they came, each in another turn of the event loop. Its rate admits hundreds at once, and the replies of SQLite's thread are
 * taken in as long as there are any: reads that began one behind the other would keep everybody else waiting. One that takes
 * long keeps no other waiting, and one whose call ends while it waits leaves the line at once. Operators' reads run at once,
 * and streams have bounds of their own. Comes after the interceptor that identifies the caller.
 */
export function takeReadsInTurn(clock: Pick<Clock, "after">): Interceptor {
  const lines = new Map<string, Line>();
  return (next) => (request) => {
    const owner = readOwner(request);
    return owner === undefined ? next(request) : inTurn(owner, request.signal, () => next(request));
  };

  async function inTurn<T>(owner: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const line = lines.get(owner) ?? { running: 0, waiting: new Set() };
    lines.set(owner, line);
    if (line.running < mostAtOnce) {
      line.running++;
    } else {
      await turnIn(line, signal);
    }
    let hasPlace = true;
    const leave = () => {
      if (hasPlace) {
        hasPlace = false;
        passOn(owner, line);
      }
    };
    const stop = clock.after(longMs, leave);
    try {
      signal.throwIfAborted();
      return await run();
    } finally {
      stop();
      leave();
    }
  }

  /** Gives a place to the next in line. */
  function passOn(owner: string, line: Line): void {
    const [following] = line.waiting;
    if (following !== undefined) {
      line.waiting.delete(following);
      setImmediate(following);
    } else if (--line.running === 0) {
      lines.delete(owner);
    }
  }
}

/** Waits in a line for a place. Throws the signal's reason once it aborts before one is free. */
function turnIn({ waiting }: Line, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      signal.removeEventListener("abort", leave);
      resolve();
    };
    const leave = () => {
      // One that was let begin has a place already, which it passes on.
      if (waiting.delete(begin)) {
        reject(signal.reason);
      }
    };
    waiting.add(begin);
    signal.addEventListener("abort", leave, { once: true });
  });
}

/** Whose read a call is. Undefined: it is no read, or one of an operator or a stranger. */
function readOwner({ stream, method, contextValues }: UnaryRequest | StreamRequest): string | undefined {
  if (stream || !isRead(method)) {
    return undefined;
  }
  const principal = contextValues.get(principalKey);
  return principal?.kind === "caller" ? toOwner(principal) : undefined;
}
