import { useId } from "preact/hooks";
import { useQuery } from "../calls/use-query.ts";
import { Name } from "../figures/name.tsx";

/** A thing that has an id, and a name for people. Empty: none. */
export interface Suggested {
  readonly id: string;
  readonly name: string;
}

interface Props {
  readonly label: string;
  readonly name: string;
  /** The thing's id, or what is typed of its name. */
  readonly value: string;
  readonly onInput: (id: string) => void;
  /** The thing of a typed id, or those that a typed text may mean. */
  readonly suggest: (typed: string, signal: AbortSignal) => Promise<readonly Suggested[]>;
  /** What may be typed. */
  readonly hint: string;
}

/** A field for the id of a thing. It suggests things by what is typed, and shows the name of the one whose id is there. */
export function IdField({ label, name, value, onInput, suggest, hint }: Props) {
  const id = useId();
  const typed = value.trim();
  const { data = [] } = useQuery((signal) => suggest(typed, signal), [], undefined, typed);
  const chosen = data.find((one) => one.id === typed);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        class="code"
        list={`${id}-suggested`}
        value={value}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={`${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <datalist id={`${id}-suggested`}>
        {data.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name || one.id}
          </option>
        ))}
      </datalist>
      <p id={`${id}-hint`} class="hint">
        {chosen?.name ? (
          <strong>
            <Name text={chosen.name} />
          </strong>
        ) : (
          hint
        )}
      </p>
    </div>
  );
}
