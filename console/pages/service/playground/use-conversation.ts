import { useState } from "preact/hooks";
import type { Run } from "../../../parts/requests/run.ts";
import type { Choice, Turn } from "../../../parts/requests/surfaces.ts";
import { useRun } from "../../../parts/requests/use-run.ts";

/** A conversation with one model. */
export interface Conversation {
  /** What was sent last. Undefined: nothing was sent yet. */
  readonly choice: Choice | undefined;
  /** The answer to it. */
  readonly run: Run | undefined;
  /** Begins anew. */
  readonly begin: (choice: Choice, apiKey: string) => Promise<void>;
  /** Goes on after the last answer, by what was said next or by the results of its tools. */
  readonly goOn: (next: Partial<Pick<Turn, "reply" | "results">>, apiKey: string) => Promise<void>;
  readonly stop: () => void;
  /** Ends it and forgets what was said. */
  readonly clear: () => void;
}

export function useConversation(): Conversation {
  const [choice, setChoice] = useState<Choice | undefined>(undefined);
  const { run, start, stop } = useRun();
  const send = async (next: Choice, apiKey: string): Promise<void> => {
    setChoice(next);
    await start(next, apiKey);
  };
  return {
    choice,
    run,
    begin: (begun, apiKey) => send({ ...begun, turns: [] }, apiKey),
    goOn: async ({ reply = "", results = [] }, apiKey) => {
      if (choice !== undefined && run?.state === "done") {
        const turn = { text: run.text, calls: run.calls, results, reply };
        await send({ ...choice, turns: [...choice.turns, turn] }, apiKey);
      }
    },
    stop,
    clear: () => {
      stop();
      setChoice(undefined);
    },
  };
}
