import type { ComponentChildren } from "preact";
import { Failure } from "../calls/answer.tsx";
import { Cost } from "./cost.tsx";
import type { Run } from "./run.ts";
import type { ToolCall } from "./tool-call.ts";

interface Props {
  /** Undefined: nothing was sent yet. */
  readonly run: Run | undefined;
  /** What the answer is called, where a page has several. */
  readonly name?: string;
  /** What was said before the answer. */
  readonly before?: ComponentChildren;
  /** Actions on the answer. */
  readonly children?: ComponentChildren;
}

/** The answer as it arrives, and its cost at the end. */
export function Answering({ run, name = "Answer", before, children }: Props) {
  return (
    <section class="answer card" aria-label={name} aria-busy={run?.state === "running"}>
      {before}
      {run === undefined && <p class="muted">The answer appears here, then what it cost and its receipt.</p>}
      {run && run.thinking !== "" && (
        <details class="thinking" open={run.text === "" && run.calls.length === 0}>
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
      {run?.calls.map((call) => (
        <Call key={call.index} call={call} />
      ))}
      {run?.state === "stopped" && (
        <p class="notice warn">You stopped it. What the engine had produced until then is billed.</p>
      )}
      {run?.state === "failed" && <Failure error={run.error} />}
      {children}
      {run?.sent && <Cost sent={run.sent} />}
    </section>
  );
}

/** A tool call that the model asks its caller to run. */
function Call({ call }: { readonly call: ToolCall }) {
  return (
    <div class="call">
      <p class="small">
        <span class="muted">Calls the tool</span> <strong>{call.name}</strong>
      </p>
      <pre class="code-block">{indent(call.input)}</pre>
    </div>
  );
}

/** Indents JSON. Incomplete JSON is shown as it came. */
function indent(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json || "{}"), null, 2);
  } catch {
    return json;
  }
}
