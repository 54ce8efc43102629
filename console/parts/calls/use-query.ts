import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { retryMs } from "../../app/connection.ts";
import { isCancelled, isLost } from "../../contract/failure.ts";
import { pause } from "./pause.ts";

/** The state of a query. */
export interface Query<Data> {
  /** The last answer. It stays while a newer one is loading. */
  readonly data: Data | undefined;
  /** Why the last attempt failed. Undefined: it succeeded. */
  readonly error: unknown;
  /** Loads again. */
  readonly reload: () => void;
}

/**
 * Loads data, and loads it again whenever `dependencies` change. While the server is unreachable it retries by itself.
 * `everyMs`: also loads at this interval while the page is visible. `version`: a change of it loads again, and the old
 * data stays until the answer comes; it may become known after the first load.
 */
export function useQuery<Data>(
  ask: (signal: AbortSignal) => Promise<Data>,
  dependencies: readonly unknown[],
  everyMs?: number,
  version?: unknown,
): Query<Data> {
  const [state, setState] = useState<Answered<Data>>({});
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const asked = useRef(dependencies);
  const first = useRef(version);
  first.current ??= version;
  useEffect(() => {
    const abort = new AbortController();
    if (dependencies.some((value, index) => !Object.is(value, asked.current[index]))) {
      setState({});
    }
    asked.current = dependencies;
    void askUntilAborted(ask, everyMs, abort.signal, (answered) => setState((before) => ({ ...before, ...answered })));
    return () => abort.abort();
  }, [...dependencies, round, version === undefined || version === first.current ? undefined : version]);
  return { data: state.data, error: state.error, reload };
}

interface Answered<Data> {
  readonly data?: Data;
  readonly error?: unknown;
}

async function askUntilAborted<Data>(
  ask: (signal: AbortSignal) => Promise<Data>,
  everyMs: number | undefined,
  signal: AbortSignal,
  answer: (answered: Answered<Data>) => void,
): Promise<void> {
  let nextMs: number | undefined = 0;
  while (nextMs !== undefined && !signal.aborted) {
    nextMs = everyMs;
    if (!document.hidden || everyMs === undefined) {
      const answered = await attempt(ask, signal);
      if (signal.aborted || isCancelled(answered.error)) {
        return;
      }
      answer(answered);
      nextMs = isLost(answered.error) ? retryMs : everyMs;
    }
    if (nextMs !== undefined) {
      await pause(nextMs, signal);
    }
  }
}

/** One attempt. An answer clears the previous error; an error keeps the previous answer. */
async function attempt<Data>(
  ask: (signal: AbortSignal) => Promise<Data>,
  signal: AbortSignal,
): Promise<Answered<Data>> {
  try {
    return { data: await ask(signal), error: undefined };
  } catch (error) {
    return { error };
  }
}
