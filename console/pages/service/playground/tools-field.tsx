import { useState } from "preact/hooks";
import { TextArea } from "../../../parts/forms/field.tsx";
import type { Tool } from "../../../parts/requests/surfaces.ts";

const example = JSON.stringify(
  [
    {
      name: "get_weather",
      description: "The weather of a city, now.",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  ],
  null,
  2,
);

/** Reads tools as JSON. Invalid JSON is reported and offers no tools. */
export function ToolsField({ onTools }: { readonly onTools: (tools: readonly Tool[]) => void }) {
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const change = (next: string): void => {
    setText(next);
    const tools = parse(next);
    setError(tools === undefined ? "This is not a JSON array of tools with name and parameters." : "");
    onTools(tools ?? []);
  };
  return (
    <details class="more">
      <summary>Tools</summary>
      <div class="stack">
        <TextArea
          label="Tool definitions"
          name="tools"
          value={text}
          onInput={change}
          error={error}
          hint="A JSON array of what may be called. It is sent in the form that the surface has for it."
          rows={text === "" ? 2 : 9}
          isCode
        />
        {text === "" && (
          <button type="button" class="small-button" onClick={() => change(example)}>
            Use an example
          </button>
        )}
      </div>
    </details>
  );
}

/** The tools. Undefined: the text is not a list of tools. An empty text means none. */
function parse(text: string): readonly Tool[] | undefined {
  if (text.trim() === "") {
    return [];
  }
  try {
    const tools: unknown = JSON.parse(text);
    return Array.isArray(tools) && tools.every(isTool) ? tools : undefined;
  } catch {
    return undefined;
  }
}

function isTool(value: unknown): value is Tool {
  const tool = value as Partial<Tool> | null;
  return typeof tool?.name === "string" && typeof tool.parameters === "object" && tool.parameters !== null;
}
