import { useEffect, useState } from "preact/hooks";
import { retryMs } from "../../app/connection.ts";
import { isCancelled, isLost } from "../../contract/failure.ts";
import { pause } from "./pause.ts";

/** The state of a stream that a page watches. */
export interface Watched<State> {
  /** What was received so far. Undefined: nothing yet. */
  readonly state: State | undefined;
  /** Why the stream ended for good. Undefined: it is running or restarting. */
  readonly error: unknown;
}

/**
 * Watches a stream while the page is visible. `add` merges each message into the state, which is undefined at each
 * start. A stream that ends or loses its connection is started again.
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
