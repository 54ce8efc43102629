import { useEffect, useState } from "preact/hooks";
import { isCancelled, isLost } from "../../contract/failure.ts";
import { pause } from "./pause.ts";

const retryMs = 2000;

/** How a stream that a page watches stands. */
export interface Watched<State> {
  /** What has been told so far. Undefined: nothing yet. */
  readonly state: State | undefined;
  /** Why it broke off for good. Undefined: it goes on, or is being begun again. */
  readonly error: unknown;
}

/**
 * Watches a stream for as long as the page is looked at. What was told is gathered by `add`, which gets undefined at each
 * beginning. A stream that ends, or that the connection takes away, is begun again.
 */
export function useStream<Message, State>(
  watch: (signal: AbortSignal) => AsyncIterable<Message>,
  add: (before: State | undefined, message: Message) => State,
): Watched<State> {
  const [watched, setWatched] = useState<Watched<State>>({ state: undefined, error: undefined });
  useEffect(() => {
    let abort = new AbortController();
    const begin = (): void => {
      abort.abort();
      abort = new AbortController();
      if (!document.hidden) {
        void follow(watch, add, abort.signal, setWatched);
      }
    };
    begin();
    document.addEventListener("visibilitychange", begin);
    return () => {
      document.removeEventListener("visibilitychange", begin);
      abort.abort();
    };
  }, []);
  return watched;
}

async function follow<Message, State>(
  watch: (signal: AbortSignal) => AsyncIterable<Message>,
  add: (before: State | undefined, message: Message) => State,
  signal: AbortSignal,
  show: (watched: Watched<State>) => void,
): Promise<void> {
  while (!signal.aborted) {
    let state: State | undefined;
    try {
      for await (const message of watch(signal)) {
        state = add(state, message);
        show({ state, error: undefined });
      }
    } catch (error) {
      if (signal.aborted || isCancelled(error)) {
        return;
      }
      if (!isLost(error)) {
        show({ state, error });
        return;
      }
    }
    await pause(retryMs, signal);
  }
}
