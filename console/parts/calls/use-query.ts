import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isCancelled, isLost } from "../../contract/failure.ts";
import { pause } from "./pause.ts";

/** What is known of something that was asked for. */
export interface Query<Data> {
  /** The last answer; it stays while a newer one is on its way. */
  readonly data: Data | undefined;
  /** Why the last attempt failed. Undefined: it did not. */
  readonly error: unknown;
  /** Asks again. */
  readonly reload: () => void;
}

const retryMs = 2000;

/**
 * Asks for something once, and again whenever what it depends on changes. While the server is gone it asks again by itself.
 * `everyMs`: also as often as that, as long as somebody looks. `version`: a change of it
 * asks again, and what was there stays until the answer comes; it may become known after the first question.
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

/** An answer takes the error before it away; an error leaves the answer before it. */
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
