import { useEffect, useRef, useState } from "preact/hooks";
import { ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { session } from "../../app/session.ts";
import { catalogue } from "../../contract/clients.ts";
import { useQuery } from "../../parts/calls/use-query.ts";
import { Page } from "../../parts/page.tsx";
import { Answering } from "./answering.tsx";
import { Examples } from "./examples-view.tsx";
import { RequestForm } from "./request-form.tsx";
import type { Run } from "./run.ts";
import { send } from "./send.ts";
import type { Choice } from "./surfaces.ts";

const first: Choice = {
  surface: "chat",
  model: "",
  prompt: "In two sentences: why is the sky blue?",
  maxTokens: 1024,
  isStreamed: true,
  isThinking: undefined,
};

/** Sends a request as a client would, and shows what it was and what it cost. */
export default function PlaygroundPage() {
  const [choice, setChoice] = useState(first);
  const [apiKey, setApiKey] = useState("");
  const [run, setRun] = useState<Run | undefined>(undefined);
  const abort = useRef<AbortController | undefined>(undefined);
  const { data: models = [] } = useQuery(async (signal) => {
    const answer = await catalogue.listModels({ pageSize: 1000 }, { signal });
    return answer.models.filter(({ kind }) => kind === ModelKind.GENERATION).map(({ id }) => id);
  }, []);
  const chosen = { ...choice, model: choice.model || (models[0] ?? "") };
  useEffect(() => () => abort.current?.abort(), []);
  const start = async (): Promise<void> => {
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    let shown: Run = { state: "running", text: "", thinking: "" };
    const show = (change: Partial<Run>): void => {
      shown = { ...shown, ...change };
      setRun(shown);
    };
    show({});
    try {
      const sent = await send(chosen, apiKey.trim(), controller.signal, ({ text = "", thinking = "" }) =>
        show({ text: shown.text + text, thinking: shown.thinking + thinking }),
      );
      show({ state: "done", sent });
    } catch (error) {
      show(controller.signal.aborted ? { state: "stopped" } : { state: "failed", error });
    }
  };
  return (
    <Page title="Playground" lead="Sends what a program would send, through the same door, at the same price.">
      <div class="columns">
        <RequestForm
          choice={chosen}
          models={models}
          apiKey={apiKey}
          isRunning={run?.state === "running"}
          onChoice={setChoice}
          onApiKey={setApiKey}
          onSend={start}
          onStop={() => abort.current?.abort()}
        />
        <Answering run={run} />
      </div>
      <Examples choice={chosen} publicUrl={session.value?.publicUrl ?? location.origin} />
    </Page>
  );
}
