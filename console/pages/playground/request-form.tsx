import { isMember, makeSessionKey, mayBill, mayChangeKeys, session } from "../../app/session.ts";
import { countOf } from "../../format/numbers.ts";
import { ActionForm } from "../../parts/forms/action-form.tsx";
import { Field, Select, TextArea } from "../../parts/forms/field.tsx";
import { type Choice, type SurfaceName, surfaces } from "../../parts/requests/surfaces.ts";
import { ToolsField } from "./tools-field.tsx";

interface Props {
  readonly choice: Choice;
  readonly models: readonly string[];
  readonly apiKey: string;
  readonly isRunning: boolean;
  readonly onChoice: (choice: Choice) => void;
  readonly onApiKey: (apiKey: string) => void;
  readonly onSend: (apiKey: string) => Promise<void>;
  readonly onStop: () => void;
}

const surfaceOptions = Object.entries(surfaces).map(([value, { name }]) => ({ value, text: name }));
const thinkingOptions = [
  { value: "", text: "as the model does" },
  { value: "on", text: "on" },
  { value: "off", text: "off" },
];
const lengths = [256, 1024, 4096].map((tokens) => ({ value: String(tokens), text: countOf(tokens, "token") }));

/** The form for the request, its key and its surface. */
export function RequestForm({ choice, models, apiKey, isRunning, onChoice, onApiKey, onSend, onStop }: Props) {
  const set = (change: Partial<Choice>) => onChoice({ ...choice, ...change });
  const submit = async (): Promise<void> => {
    if (choice.prompt.trim() === "") {
      throw new Error("The prompt is empty.");
    }
    void onSend(await readKey(apiKey, onApiKey));
  };
  return (
    <ActionForm verb="Send" send={submit} {...(isRunning ? { onCancel: onStop, cancelVerb: "Stop" } : {})}>
      <KeyField apiKey={apiKey} onApiKey={onApiKey} />
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
        label="Prompt"
        name="prompt"
        value={choice.prompt}
        onInput={(prompt) => set({ prompt, turns: [] })}
        rows={5}
      />
      <ToolsField onTools={(tools) => set({ tools, turns: [] })} />
    </ActionForm>
  );
}

/** Whether the session can get a key: of the demo account, or of a member's own. */
const mayMakeKey = () =>
  mayChangeKeys.value && (isMember.value || (mayBill.value && session.value?.demoAccountId !== ""));

/** The typed key. Without one, an operator's or a member's request uses a key of the session. */
async function readKey(typed: string, onApiKey: (apiKey: string) => void): Promise<string> {
  if (typed.trim() !== "") {
    return typed.trim();
  }
  if (!mayMakeKey()) {
    throw new Error("An API key is missing: whoever it belongs to pays for the request.");
  }
  const made = await makeSessionKey();
  onApiKey(made);
  return made;
}

function KeyField({ apiKey, onApiKey }: Pick<Props, "apiKey" | "onApiKey">) {
  const mayMake = mayMakeKey();
  const make = async (): Promise<void> => onApiKey(await makeSessionKey());
  return (
    <div class="with-button">
      <Field
        label="API key"
        name="api-key"
        type="password"
        value={apiKey}
        onInput={onApiKey}
        isCode
        placeholder="tg-…"
        hint={
          mayMake
            ? "It stays in this page. Empty: a key that ends with the session."
            : "It stays in this page: it is not stored anywhere."
        }
      />
      {mayMake && (
        <button type="button" onClick={() => void make()}>
          Use a demo key
        </button>
      )}
    </div>
  );
}

function toText(isThinking: boolean | undefined): string {
  if (isThinking === undefined) {
    return "";
  }
  return isThinking ? "on" : "off";
}
