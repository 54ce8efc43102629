import { Clip } from "../../../parts/figures/clip.tsx";
import { Answering } from "../../../parts/requests/answering.tsx";
import type { Choice } from "../../../parts/requests/surfaces.ts";
import { ToolResults } from "./tool-results.tsx";
import type { Conversation } from "./use-conversation.ts";

interface Props {
  readonly conversation: Conversation;
  /** Whether another model answers beside it, so that each is named. */
  readonly isCompared: boolean;
  readonly getKey: () => Promise<string>;
}

/** A model's side of the conversation: what was said, and its last answer. */
export function Answers({ conversation, isCompared, getKey }: Props) {
  const { choice, run, goOn } = conversation;
  return (
    <Answering
      run={run}
      name={isCompared && choice ? `Answer of ${choice.model}` : "Answer"}
      before={choice && <Said choice={choice} isCompared={isCompared} />}
    >
      {run?.state === "done" && run.calls.length > 0 && (
        <ToolResults
          key={run.sent?.requestId}
          calls={run.calls}
          onSend={async (results) => {
            const key = await getKey();
            void goOn({ results }, key);
          }}
        />
      )}
    </Answering>
  );
}

function Said({
  choice: { model, prompt, turns },
  isCompared,
}: {
  readonly choice: Choice;
  readonly isCompared: boolean;
}) {
  return (
    <>
      {isCompared && (
        <h2 class="answer-of">
          <Clip text={model} />
        </h2>
      )}
      {turns.length > 0 && <p class="said-by-user">{prompt}</p>}
      {turns.map(({ text, reply }, index) => (
        <div key={index}>
          {text !== "" && <p class="answer-text muted">{text}</p>}
          {reply !== "" && <p class="said-by-user">{reply}</p>}
        </div>
      ))}
    </>
  );
}
