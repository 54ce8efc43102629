import { useEffect, useRef, useState } from "preact/hooks";
import { begunRun, type Run } from "./run.ts";
import { send } from "./send.ts";
import type { Choice } from "./surfaces.ts";
import { addCalls } from "./tool-call.ts";

/** One request at a time, with its progress. */
export interface Running {
  /** Undefined: nothing was sent yet. */
  readonly run: Run | undefined;
  readonly start: (choice: Choice, apiKey: string) => Promise<void>;
  readonly stop: () => void;
}

/** Sends requests from a page. A running request ends when another starts or the page is left. */
export function useRun(): Running {
  const [run, setRun] = useState<Run | undefined>(undefined);
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const start = async (choice: Choice, apiKey: string): Promise<void> => {
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    let shown = begunRun;
    const show = (change: Partial<Run>): void => {
      shown = { ...shown, ...change };
      if (abort.current === controller) {
        setRun(shown);
      }
    };
    show({});
    try {
      const sent = await send(choice, apiKey, controller.signal, ({ text = "", thinking = "", calls = [] }) =>
        show({ text: shown.text + text, thinking: shown.thinking + thinking, calls: addCalls(shown.calls, calls) }),
      );
      show({ state: "done", sent });
    } catch (error) {
      show(controller.signal.aborted ? { state: "stopped" } : { state: "failed", error });
    }
  };
  return { run, start, stop: () => abort.current?.abort() };
}
