import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { retryMs } from "../../app/connection.ts";
import { isCancelled, isLost } from "../../contract/failure.ts";
import { pause } from "./pause.ts";

/** The state of a query. */
export interface Query<Data> {
  /** The last answer to what is asked now. It stays while the same is asked again. Undefined: there is none yet. */
  readonly data: Data | undefined;
  /** Why the last attempt failed. Undefined: it succeeded, or is under way for the first time. */
  readonly error: unknown;
  /** Loads again. */
  readonly reload: () => void;
}

/**
 * Loads data. Whatever `ask` asks for stands in `dependencies`: when they change, the answer before is no answer any more.
 * While the server is unreachable it retries by itself. `everyMs`: also loads at this interval while the page is visible.
 * `version`: a change of it says that the answer to the same may be another by now; it may become known after the first
 * load.
 */
export function useQuery<Data>(
  ask: (signal: AbortSignal) => Promise<Data>,
  dependencies: readonly unknown[],
  everyMs?: number,
  version?: unknown,
): Query<Data> {
  const [last, setLast] = useState<Answered<Data>>({ to: dependencies });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const first = useRef(version);
  first.current ??= version;
  useEffect(() => {
    const abort = new AbortController();
    void askUntilAborted(ask, everyMs, abort.signal, (answered) =>
      setLast((before) => ({ ...(isTo(before, dependencies) && before), ...answered, to: dependencies })),
    );
    return () => abort.abort();
  }, [...dependencies, round, version === undefined || version === first.current ? undefined : version]);
  const { data, error } = isTo(last, dependencies) ? last : { data: undefined, error: undefined };
  return { data, error, reload };
}

interface Attempted<Data> {
  readonly data?: Data;
  readonly error?: unknown;
}

interface Answered<Data> extends Attempted<Data> {
  /** What was asked. */
  readonly to: readonly unknown[];
}

/** Whether an answer is one to what is asked now. */
function isTo<Data>({ to }: Answered<Data>, dependencies: readonly unknown[]): boolean {
  return dependencies.every((value, index) => Object.is(value, to[index]));
}

async function askUntilAborted<Data>(
  ask: (signal: AbortSignal) => Promise<Data>,
  everyMs: number | undefined,
  signal: AbortSignal,
  answer: (answered: Attempted<Data>) => void,
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
): Promise<Attempted<Data>> {
  try {
    return { data: await ask(signal), error: undefined };
  } catch (error) {
    return { error };
  }
}
