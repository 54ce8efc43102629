import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Place } from "../place.ts";
import type { Wish } from "../wish.ts";

/** A wish in the queue, until `grant` or `refuse` ends it. The caller of either has removed it from the queue. */
export interface Waiter extends Pick<Wish, "key" | "deadline"> {
  readonly wish: Wish;
  readonly serviceClass: ServiceClass;
  readonly grant: (place: Place) => void;
  readonly refuse: (error: Error) => void;
}

/** The queue of waiters. */
interface WaitingRoom {
  push(waiter: Waiter): void;
  remove(waiter: Waiter): void;
}

/** Waits in a queue for a place. Rejects with `onLate`'s error at the deadline, or earlier with the signal's reason. */
export function waitFor(
  wish: Wish,
  queue: WaitingRoom,
  clock: Clock,
  signal: AbortSignal,
  onLate: () => Error,
): Promise<Place> {
  return new Promise((resolve, reject) => {
    const leave = (error: unknown) => {
      queue.remove(waiter);
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
    const { key, deadline, serviceClass = "standard" } = wish;
    const waiter: Waiter = { key, deadline, serviceClass, wish, grant, refuse };
    if (signal.aborted) {
      return reject(signal.reason);
    }
    signal.addEventListener("abort", onAbort, { once: true });
    queue.push(waiter);
  });
}
