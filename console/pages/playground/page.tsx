import { useState } from "preact/hooks";
import { session } from "../../app/session.ts";
import { Page } from "../../parts/page.tsx";
import { Answering } from "../../parts/requests/answering.tsx";
import type { Choice } from "../../parts/requests/surfaces.ts";
import { useGenerators } from "../../parts/requests/use-generators.ts";
import { useRun } from "../../parts/requests/use-run.ts";
import { Examples } from "./examples-view.tsx";
import { RequestForm } from "./request-form.tsx";
import { ToolResults } from "./tool-results.tsx";

const first: Choice = {
  surface: "chat",
  model: "",
  prompt: "In two sentences: why is the sky blue?",
  maxTokens: 1024,
  isStreamed: true,
  isThinking: undefined,
  tools: [],
  turns: [],
};

/** Sends a request as a client would, and shows the request, its answer and its cost. */
export default function PlaygroundPage() {
  const [choice, setChoice] = useState(first);
  const [apiKey, setApiKey] = useState("");
  const { run, start, stop } = useRun();
  const { data: models = [] } = useGenerators();
  const chosen = { ...choice, model: choice.model || (models[0] ?? "") };
  const begin = async (next: Choice, key: string): Promise<void> => {
    setChoice(next);
    await start(next, key);
  };
  return (
    <Page
      title="Playground"
      lead="Sends a request as a program would, at the same price, and shows its answer, cost and receipt."
    >
      <div class="columns">
        <RequestForm
          choice={chosen}
          models={models}
          apiKey={apiKey}
          isRunning={run?.state === "running"}
          onChoice={setChoice}
          onApiKey={setApiKey}
          onSend={(key) => begin({ ...chosen, turns: [] }, key)}
          onStop={stop}
        />
        <Answering run={run}>
          {run?.state === "done" && run.calls.length > 0 && (
            <ToolResults
              key={run.sent?.requestId}
              calls={run.calls}
              onSend={(results) =>
                begin(
                  { ...chosen, turns: [...chosen.turns, { text: run.text, calls: run.calls, results }] },
                  apiKey.trim(),
                )
              }
            />
          )}
        </Answering>
      </div>
      <Examples choice={chosen} publicUrl={session.value?.publicUrl ?? location.origin} />
    </Page>
  );
}
