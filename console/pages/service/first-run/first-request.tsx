import { useEffect, useRef, useState } from "preact/hooks";
import { Answer } from "../../../parts/calls/answer.tsx";
import { Copyable } from "../../../parts/figures/copy.tsx";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Field } from "../../../parts/forms/field.tsx";
import { Answering } from "../../../parts/requests/answering.tsx";
import { toCurl } from "../../../parts/requests/curl.ts";
import type { Choice } from "../../../parts/requests/surfaces.ts";
import { useGenerators } from "../../../parts/requests/use-generators.ts";
import { useRun } from "../../../parts/requests/use-run.ts";
import type { FirstKey } from "./first-account.tsx";

/** Sends a request with the key of the previous step, and shows its cost. */
export function FirstRequest({ made }: { readonly made: FirstKey | undefined }) {
  const models = useGenerators();
  if (made === undefined) {
    return <p class="muted">It runs on the key of the step above.</p>;
  }
  return <Answer query={models}>{([model = ""]) => <Sending apiKey={made.secret} model={model} />}</Answer>;
}

function Sending({ apiKey, model }: { readonly apiKey: string; readonly model: string }) {
  const [prompt, setPrompt] = useState("In two sentences: why is the sky blue?");
  const { run, start } = useRun();
  const form = useRef<HTMLDivElement>(null);
  // The button of the previous step is gone: a keyboard continues here.
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const choice: Choice = {
    surface: "chat",
    model,
    system: "",
    prompt,
    maxTokens: 1024,
    temperature: undefined,
    isStreamed: true,
    isThinking: undefined,
    tools: [],
    turns: [],
  };
  return (
    <div class="stack" ref={form}>
      <ActionForm verb={run === undefined ? "Send" : "Send again"} send={() => start(choice, apiKey)}>
        <Field label="Prompt" name="prompt" value={prompt} onInput={setPrompt} hint={`To ${model}.`} />
      </ActionForm>
      {run && <Answering run={run} />}
      <details class="more">
        <summary>From a terminal</summary>
        <Copyable text={toCurl(apiKey, model, prompt)} what="the command" />
      </details>
    </div>
  );
}
