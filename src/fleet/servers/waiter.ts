import type { Clock } from "../../../lib/time/clock.ts";
import type { RoutingRequest } from "../routing/policy.ts";
import type { Member } from "./member.ts";
import type { Place } from "./place.ts";
import type { WaitingLine } from "./waiting-line.ts";

/** A request for a server. */
export interface Wish {
  readonly route: RoutingRequest;
  /** Whose turn it takes in the queue. */
  readonly key: string;
  /** Servers that have failed it. */
  readonly failed: ReadonlySet<Member>;
  /** When it stops waiting, on the monotonic clock. */
  readonly deadline: number;
}

/** A wish in the queue, until one of both ends it. Whoever does has taken it out of the queue. */
export interface Waiter extends Pick<Wish, "key" | "deadline"> {
  readonly wish: Wish;
  readonly grant: (place: Place) => void;
  readonly refuse: (error: Error) => void;
}

/** Waits in a queue until a place is granted. Rejects with `onLate`'s error at the deadline, with the signal's reason before. */
export function waitFor(
  wish: Wish,
  line: WaitingLine<Waiter>,
  clock: Clock,
  signal: AbortSignal,
  onLate: () => Error,
): Promise<Place> {
  return new Promise((resolve, reject) => {
    const leave = (error: unknown) => {
      line.remove(waiter);
      stop();
      reject(error);
    };
    const onAbort = () => leave(signal.reason);
    const cancelTimer = clock.after(wish.deadline - clock.monotonic(), () => leave(onLate()));
    const stop = () => {
      cancelTimer();
      signal.removeEventListener("abort", onAbort);
    };
    const grant = (place: Place) => {
      stop();
      resolve(place);
    };
    const refuse = (error: Error) => {
      stop();
      reject(error);
    };
    const waiter: Waiter = { key: wish.key, deadline: wish.deadline, wish, grant, refuse };
    if (signal.aborted) {
      return reject(signal.reason);
    }
    signal.addEventListener("abort", onAbort, { once: true });
    line.push(waiter);
  });
}
