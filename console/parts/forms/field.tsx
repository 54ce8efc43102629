import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** What is expected, shown below the field. */
  readonly hint?: ComponentChildren;
  /** What is wrong with the value. Empty: nothing. */
  readonly error?: string;
  readonly type?: "text" | "password" | "datetime-local";
  /** The unit before the value, such as "$". */
  readonly unit?: string;
  readonly isRequired?: boolean;
  readonly isNumber?: boolean;
  readonly isCode?: boolean;
  readonly hasFocus?: boolean;
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly maxLength?: number;
}

/** A field with its label, its hint and its error. */
export function Field(props: Props) {
  const id = useId();
  const { label, hint, error = "", unit, value, onInput } = props;
  return (
    <div class="field">
      <label for={id}>
        {label}
        {props.isRequired === false && <span class="muted"> · optional</span>}
      </label>
      <div class={unit === undefined ? "input-row" : "input-row with-unit"}>
        {unit !== undefined && (
          <span class="unit" aria-hidden="true">
            {unit}
          </span>
        )}
        <input
          id={id}
          name={props.name}
          type={(props.type ?? "text") as "text"}
          class={props.isCode ? "code" : undefined}
          value={value}
          required={props.isRequired === true}
          inputMode={props.isNumber ? "decimal" : undefined}
          placeholder={props.placeholder}
          autocomplete={(props.autocomplete ?? "off") as "off"}
          maxLength={props.maxLength}
          spellcheck={false}
          autofocus={props.hasFocus}
          aria-invalid={error !== "" ? "true" : undefined}
          aria-describedby={hint || error ? `${id}-hint` : undefined}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </div>
      <Below id={id} hint={hint} error={error} />
    </div>
  );
}

/** A field for several lines. */
export function TextArea({
  label,
  name,
  value,
  onInput,
  hint,
  error = "",
  rows,
  isCode,
}: Pick<Props, "label" | "name" | "value" | "onInput" | "hint" | "error" | "isCode"> & { readonly rows: number }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        rows={rows}
        class={isCode ? "code" : undefined}
        value={value}
        spellcheck={!isCode}
        aria-invalid={error !== "" ? "true" : undefined}
        aria-describedby={hint || error ? `${id}-hint` : undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <Below id={id} hint={hint} error={error} />
    </div>
  );
}

/** A choice among a few options. */
export function Select({
  label,
  name,
  value,
  options,
  onChange,
  hint,
}: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly text: string }[];
  readonly onChange: (value: string) => void;
  readonly hint?: ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} name={name} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.text}
          </option>
        ))}
      </select>
      <Below id={id} hint={hint} error="" />
    </div>
  );
}

function Below({
  id,
  hint,
  error,
}: {
  readonly id: string;
  readonly hint?: ComponentChildren;
  readonly error: string;
}) {
  if (error === "" && !hint) {
    return null;
  }
  return (
    <p id={`${id}-hint`} class={error === "" ? "hint" : "hint wrong"}>
      {error === "" ? hint : error}
    </p>
  );
}
