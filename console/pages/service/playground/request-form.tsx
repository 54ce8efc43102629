import { useState } from "preact/hooks";
import { countOf } from "../../../format/numbers.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Field, Select, TextArea } from "../../../parts/forms/field.tsx";
import { type Choice, type SurfaceName, surfaces } from "../../../parts/requests/surfaces.ts";
import { type Payer, PayerField } from "./payer.tsx";
import { ToolsField } from "./tools-field.tsx";

interface Props {
  readonly choice: Choice;
  readonly models: readonly string[];
  /** The model that answers beside it. Empty: none. */
  readonly other: string;
  readonly payer: Payer;
  readonly isRunning: boolean;
  readonly onChoice: (choice: Choice) => void;
  readonly onOther: (model: string) => void;
  readonly onSend: () => Promise<void>;
  readonly onStop: () => void;
}

const surfaceOptions = Object.entries(surfaces).map(([value, { name }]) => ({ value, text: name }));
const thinkingOptions = [
  { value: "", text: "as the model does" },
  { value: "on", text: "on" },
  { value: "off", text: "off" },
];
const lengths = [256, 1024, 4096].map((tokens) => ({ value: String(tokens), text: countOf(tokens, "token") }));

/** The form for the request, who pays for it and its surface. */
export function RequestForm(props: Props) {
  const { choice, models, other, payer, isRunning, onChoice, onOther, onSend, onStop } = props;
  const [temperature, setTemperature] = useState("");
  const set = (change: Partial<Choice>) => onChoice({ ...choice, ...change });
  const submit = async (): Promise<void> => {
    if (choice.prompt.trim() === "") {
      throw new Error("The prompt is empty.");
    }
    await onSend();
  };
  return (
    <ActionForm verb="Send" send={submit} {...(isRunning ? { onCancel: onStop, cancelVerb: "Stop" } : {})}>
      <PayerField payer={payer} />
      <div class="fields">
        <div class="across">
          <Select
            label="Model"
            name="model"
            value={choice.model}
            options={models.map((model) => ({ value: model, text: model }))}
            onChange={(model) => set({ model })}
          />
        </div>
        <Select
          label="Beside it"
          name="other"
          value={other}
          options={[
            { value: "", text: "no other model" },
            ...models.filter((model) => model !== choice.model).map((model) => ({ value: model, text: model })),
          ]}
          onChange={onOther}
        />
        <Select
          label="Surface"
          name="surface"
          value={choice.surface}
          options={surfaceOptions}
          onChange={(surface) => set({ surface: surface as SurfaceName })}
        />
        <Select
          label="Thinking"
          name="thinking"
          value={toText(choice.isThinking)}
          options={thinkingOptions}
          onChange={(value) => set({ isThinking: value === "" ? undefined : value === "on" })}
        />
        <Select
          label="Max output"
          name="length"
          value={String(choice.maxTokens)}
          options={lengths}
          onChange={(value) => set({ maxTokens: Number(value) })}
        />
        <Field
          label="Temperature"
          name="temperature"
          value={temperature}
          isNumber
          placeholder="as the model does"
          onInput={(text) => {
            setTemperature(text);
            set({ temperature: readTemperature(text) });
          }}
        />
        <label class="check beside-field">
          <input
            type="checkbox"
            checked={choice.isStreamed}
            onChange={(event) => set({ isStreamed: event.currentTarget.checked })}
          />
          Stream the answer
        </label>
      </div>
      <TextArea
        label="System prompt"
        name="system"
        value={choice.system}
        onInput={(system) => set({ system })}
        rows={2}
      />
      <TextArea label="Prompt" name="prompt" value={choice.prompt} onInput={(prompt) => set({ prompt })} rows={5} />
      <ToolsField onTools={(tools) => set({ tools })} />
    </ActionForm>
  );
}

/** A typed temperature. Undefined: that of the model. */
function readTemperature(text: string): number | undefined {
  const value = Number(text.trim().replace(",", "."));
  return text.trim() === "" || Number.isNaN(value) ? undefined : value;
}

function toText(isThinking: boolean | undefined): string {
  if (isThinking === undefined) {
    return "";
  }
  return isThinking ? "on" : "off";
}
