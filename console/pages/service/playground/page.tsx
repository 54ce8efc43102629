import { useState } from "preact/hooks";
import { session } from "../../../app/session.ts";
import { Page } from "../../../parts/frame/page.tsx";
import type { Choice } from "../../../parts/requests/surfaces.ts";
import { useGenerators } from "../../../parts/requests/use-generators.ts";
import { Answers } from "./answers.tsx";
import { Examples } from "./examples-view.tsx";
import { usePayer } from "./payer.tsx";
import { Reply } from "./reply.tsx";
import { RequestForm } from "./request-form.tsx";
import { useConversation } from "./use-conversation.ts";

const first: Choice = {
  surface: "chat",
  model: "",
  system: "",
  prompt: "In two sentences: why is the sky blue?",
  maxTokens: 1024,
  temperature: undefined,
  isStreamed: true,
  isThinking: undefined,
  tools: [],
  turns: [],
};

/** Talks to one model or two as a client would, and shows the requests, their answers and their cost. */
export default function PlaygroundPage() {
  const [choice, setChoice] = useState(first);
  const [other, setOther] = useState("");
  const payer = usePayer();
  const one = useConversation();
  const two = useConversation();
  const { data: models = [] } = useGenerators();
  const chosen = { ...choice, model: choice.model || (models[0] ?? "") };
  const shown = two.choice === undefined ? [one] : [one, two];
  const isRunning = shown.some(({ run }) => run?.state === "running");
  const begin = async (): Promise<void> => {
    const key = await payer.getKey();
    void one.begin(chosen, key);
    if (other === "") {
      two.clear();
    } else {
      void two.begin({ ...chosen, model: other }, key);
    }
  };
  const reply = async (text: string): Promise<void> => {
    const key = await payer.getKey();
    for (const { goOn } of shown) {
      void goOn({ reply: text }, key);
    }
  };
  return (
    <Page
      title="Playground"
      lead="Sends requests as a program would, at the same price, and shows their answers, cost and receipts."
    >
      <div class="columns">
        <RequestForm
          choice={chosen}
          models={models}
          other={other}
          payer={payer}
          isRunning={isRunning}
          onChoice={setChoice}
          onOther={setOther}
          onSend={begin}
          onStop={() => shown.map(({ stop }) => stop())}
        />
        <div class="stack conversation">
          <div class="columns">
            {shown.map((conversation, index) => (
              <Answers
                key={index === 0 ? "one" : "two"}
                conversation={conversation}
                isCompared={shown.length > 1}
                getKey={payer.getKey}
              />
            ))}
          </div>
          {shown.every(({ run }) => run?.state === "done" && run.calls.length === 0) && <Reply onSend={reply} />}
        </div>
      </div>
      <Examples choice={one.choice ?? chosen} publicUrl={session.value?.publicUrl ?? location.origin} />
    </Page>
  );
}
