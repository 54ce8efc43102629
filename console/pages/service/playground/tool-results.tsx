import { useState } from "preact/hooks";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Field } from "../../../parts/forms/field.tsx";
import type { ToolCall } from "../../../parts/requests/tool-call.ts";

interface Props {
  readonly calls: readonly ToolCall[];
  /** Gets one result for each call. */
  readonly onSend: (results: readonly string[]) => Promise<void>;
}

/** Asks for the tools' results, so that the model can continue. */
export function ToolResults({ calls, onSend }: Props) {
  const [results, setResults] = useState<readonly string[]>(calls.map(() => ""));
  const set = (place: number) => (result: string) =>
    setResults(results.map((before, index) => (index === place ? result : before)));
  return (
    <ActionForm verb="Send the results" send={() => onSend(results)}>
      {calls.map((call, place) => (
        <Field
          key={call.index}
          label={`Result of ${call.name}`}
          name={`result-${call.index}`}
          value={results[place] ?? ""}
          onInput={set(place)}
          isCode
        />
      ))}
    </ActionForm>
  );
}
