import { Failure } from "../../parts/calls/answer.tsx";
import { Cost } from "./cost.tsx";
import type { Run } from "./run.ts";

/** The answer as it comes, and at its end what it cost. */
export function Answering({ run }: { readonly run: Run | undefined }) {
  return (
    <section class="answer card" aria-label="Answer" aria-busy={run?.state === "running"}>
      {run === undefined && <p class="muted">The answer appears here.</p>}
      {run && run.thinking !== "" && (
        <details class="thinking" open={run.text === ""}>
          <summary>Thinking</summary>
          <p>{run.thinking}</p>
        </details>
      )}
      {run && (
        <p class="answer-text" data-testid="answer">
          {run.text}
          {run.state === "running" && <span class="caret" aria-hidden="true" />}
        </p>
      )}
      {run?.state === "stopped" && (
        <p class="notice warn">You stopped it. What the engine had produced until then is billed.</p>
      )}
      {run?.state === "failed" && <Failure error={run.error} />}
      {run?.sent && <Cost sent={run.sent} />}
    </section>
  );
}
